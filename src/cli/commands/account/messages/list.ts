import { operationCommand } from "../../operations/operation-command.ts";

export default operationCommand("messages.list", {
  examples: ["starpost account messages list", "starpost account messages list --language de --json"],
});
