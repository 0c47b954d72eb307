import { operationCommand } from "../../operations/operation-command.ts";

export default operationCommand("messages.reset", {
  examples: [
    "starpost account messages reset --language en --key email.map.subject",
    "starpost account messages reset --yes",
  ],
});
