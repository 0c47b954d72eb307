import { emailChange, notes } from "./email-view.ts";

export default emailChange(
  {
    summary: "Set the number of emails that an account may send per day",
    argument: "<app_key> <emails>",
    argumentHelp: { emails: { description: "emails per day (UTC); `default` restores 10000", values: ["default"] } },
    examples: ["starpost account set-email-quota k3J9xQ 50000", "starpost account set-email-quota k3J9xQ default"],
    notes: [...notes, "Emails above the quota are held until the next day."],
  },
  async ([emails = ""]) => {
    const { readQuota } = await import("./with-accounts.ts");
    return { type: "quota", perDay: readQuota(emails) };
  },
);
