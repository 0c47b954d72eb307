import { operationCommand } from "../operations/operation-command.ts";

export default operationCommand("questions.history", {
  examples: ["starpost questions history 3", "starpost questions history 3 --json"],
});
