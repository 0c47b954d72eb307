import { emailChange } from "./email-view.ts";

export default emailChange(
  {
    summary: "Remove an address from the approved recipients of test emails",
    argument: "<app_key> <address>",
    examples: [
      "starpost account remove-recipient k3J9xQ owner@shop.example",
      "starpost account remove-recipient k3J9xQ owner@shop.example --json",
    ],
    notes: ["`starpost account email-status` lists the approved recipients."],
  },
  ([recipient = ""]) => ({ type: "remove", recipient }),
);
