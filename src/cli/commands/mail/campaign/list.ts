import { operationCommand } from "../../operations/operation-command.ts";

export default operationCommand("campaigns.list", {
  examples: ["starpost mail campaign list", "starpost mail campaign list --json"],
});
