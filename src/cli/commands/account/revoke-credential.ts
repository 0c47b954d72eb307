import { operationCommand } from "../operations/operation-command.ts";

export default operationCommand("credentials.revoke", {
  examples: ["starpost account revoke-credential 1", "starpost account revoke-credential 1 --yes"],
});
