import { operationCommand } from "../operations/operation-command.ts";

export default operationCommand("emails.forecast", {
  name: "mail forecast",
  examples: ["starpost mail forecast", "starpost mail forecast --since-purchase-id 100 --json"],
});
