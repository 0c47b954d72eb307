import { operationCommand } from "../operations/operation-command.ts";

export default operationCommand("questions.delete", {
  examples: ["starpost questions delete 3", "starpost questions delete 3 --reason 'Spam' --by Bo --yes"],
});
