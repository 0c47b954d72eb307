import { operationCommand } from "../operations/operation-command.ts";

export default operationCommand("credentials.list", {
  examples: ["starpost account credentials", "starpost account credentials --json"],
});
