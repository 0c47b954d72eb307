import { operationCommand } from "../operations/operation-command.ts";

export default operationCommand("answers.edit", {
  examples: [
    "starpost questions edit-answer 5 --content 'Yes, up to 2 l.'",
    "starpost questions edit-answer 5 --content 'Yes.' --reason 'Wrong volume' --by Bo",
  ],
});
