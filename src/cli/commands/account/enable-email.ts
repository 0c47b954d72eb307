import { emailChange, notes } from "./email-view.ts";

export default emailChange(
  {
    summary: "Allow an account to send email, and send its held emails",
    argument: "<app_key>",
    examples: ["starpost account enable-email k3J9xQ", "starpost account enable-email k3J9xQ --json"],
    notes: [...notes, "Emails that were held for more than 30 days are not sent."],
  },
  () => ({ type: "enable" }),
);
