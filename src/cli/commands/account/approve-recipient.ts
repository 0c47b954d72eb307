import { emailChange, notes } from "./email-view.ts";

export default emailChange(
  {
    summary: "Allow test emails of an account to an address before its email is enabled",
    argument: "<app_key> <address>",
    examples: [
      "starpost account approve-recipient k3J9xQ owner@shop.example",
      "starpost account approve-recipient k3J9xQ owner@shop.example --json",
    ],
    notes,
  },
  ([recipient = ""]) => ({ type: "approve", recipient }),
);
