import { operationCommand } from "../operations/operation-command.ts";

export default operationCommand("emails.forecast", {
  examples: ["starpost mail forecast", "starpost mail forecast --since-purchase-id 100 --json"],
});
