import { fields } from "../../../terminal/view.ts";
import type { Command } from "../../program/command.ts";
import { command } from "../../program/command.ts";
import type { EmailAccessData } from "./email-access.ts";

const loadRun = () => import("./email-access.ts");

const notes = ["Works on the embedded database. Emails to the outbox folder need no permission."];

/** Commands of the operator that show and change which emails an account may send through a mail server. */
export const accountEmailCommands = {
  "email-status": command({
    name: "account email-status",
    summary: "Show whether an account may send email, its quota, and its held emails",
    argument: "<app_key>",
    examples: ["starpost account email-status k3J9xQ", "starpost account email-status k3J9xQ --json"],
    notes,
    run: async (context, { arguments: [appKey = ""] }) => (await loadRun()).showEmailAccess(context, appKey),
    render: viewOfAccess,
  }),
  "enable-email": command({
    name: "account enable-email",
    summary: "Allow an account to send email, and send its held emails",
    isLocalChange: true,
    argument: "<app_key>",
    examples: ["starpost account enable-email k3J9xQ", "starpost account enable-email k3J9xQ --json"],
    notes: [...notes, "Emails that were held for more than 30 days are not sent."],
    run: async (context, { arguments: [appKey = ""] }) =>
      (await loadRun()).changeEmailAccess(context, appKey, { type: "enable" }),
    render: viewOfAccess,
  }),
  "disable-email": command({
    name: "account disable-email",
    summary: "Hold the emails of an account until it is enabled again",
    isLocalChange: true,
    argument: "<app_key>",
    examples: ["starpost account disable-email k3J9xQ", "starpost account disable-email k3J9xQ --json"],
    notes,
    run: async (context, { arguments: [appKey = ""] }) =>
      (await loadRun()).changeEmailAccess(context, appKey, { type: "disable" }),
    render: viewOfAccess,
  }),
  "set-email-quota": command({
    name: "account set-email-quota",
    summary: "Set the number of emails that an account may send per day",
    isLocalChange: true,
    argument: "<app_key> <emails>",
    argumentHelp: { emails: { description: "emails per day (UTC); `default` restores 10000", values: ["default"] } },
    examples: ["starpost account set-email-quota k3J9xQ 50000", "starpost account set-email-quota k3J9xQ default"],
    notes: [...notes, "Emails above the quota are held until the next day."],
    run: async (context, { arguments: [appKey = "", emails = ""] }) => {
      const { changeEmailAccess, readQuota } = await loadRun();
      return changeEmailAccess(context, appKey, { type: "quota", perDay: readQuota(emails) });
    },
    render: viewOfAccess,
  }),
  "approve-recipient": command({
    name: "account approve-recipient",
    summary: "Allow test emails of an account to an address before its email is enabled",
    isLocalChange: true,
    argument: "<app_key> <address>",
    examples: [
      "starpost account approve-recipient k3J9xQ owner@shop.example",
      "starpost account approve-recipient k3J9xQ owner@shop.example --json",
    ],
    notes,
    run: async (context, { arguments: [appKey = "", recipient = ""] }) =>
      (await loadRun()).changeEmailAccess(context, appKey, { type: "approve", recipient }),
    render: viewOfAccess,
  }),
  "remove-recipient": command({
    name: "account remove-recipient",
    summary: "Remove an address from the approved recipients of test emails",
    isLocalChange: true,
    argument: "<app_key> <address>",
    examples: [
      "starpost account remove-recipient k3J9xQ owner@shop.example",
      "starpost account remove-recipient k3J9xQ owner@shop.example --json",
    ],
    notes: ["`starpost account email-status` lists the approved recipients."],
    run: async (context, { arguments: [appKey = "", recipient = ""] }) =>
      (await loadRun()).changeEmailAccess(context, appKey, { type: "remove", recipient }),
    render: viewOfAccess,
  }),
} as const satisfies Readonly<Record<string, Command>>;

export type AccountEmailVerb = keyof typeof accountEmailCommands;

function viewOfAccess({ app_key, ...sending }: EmailAccessData) {
  return fields({ app_key, ...viewOfSending(sending) });
}

/** The rows about email in the views of an account. */
export function viewOfSending({
  email_enabled,
  daily_quota,
  used_today,
  held,
  test_recipients,
}: Omit<EmailAccessData, "app_key">) {
  const { email_not_enabled = 0, daily_quota_reached = 0 } = held;
  return {
    "email sending": email_enabled ? "enabled" : "not enabled",
    "emails per day": daily_quota,
    "emails today": used_today,
    "held until enabled": email_not_enabled,
    "held until tomorrow": daily_quota_reached,
    "test recipients": test_recipients.join(", "),
  };
}
