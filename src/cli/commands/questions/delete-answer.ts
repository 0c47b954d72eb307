import { operationCommand } from "../operations/operation-command.ts";

export default operationCommand("answers.delete", {
  examples: [
    "starpost questions delete-answer 5",
    "starpost questions delete-answer 5 --reason 'Advertises a shop' --by Bo --yes",
  ],
});
