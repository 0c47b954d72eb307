import { emailChange, notes } from "./email-view.ts";

export default emailChange(
  {
    summary: "Hold the emails of an account until it is enabled again",
    argument: "<app_key>",
    examples: ["starpost account disable-email k3J9xQ", "starpost account disable-email k3J9xQ --json"],
    notes,
  },
  () => ({ type: "disable" }),
);
