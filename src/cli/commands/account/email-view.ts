import { fields } from "../../../terminal/view.ts";
import { command, type CommandFactory, type CommandOf } from "../../program/command.ts";
import type { Flags } from "../../program/flag.ts";
import type { EmailAccessChange } from "../../../app/ports.ts";
import type { EmailAccessData } from "./with-accounts.ts";

export const notes = ["Works on the embedded database. Emails to the outbox folder need no permission."];

type Change = EmailAccessChange | Promise<EmailAccessChange>;

/** A command of the operator that changes which emails an account may send through a mail server. */
export function emailChange(
  declared: Omit<CommandOf<Flags, EmailAccessData>, "run" | "render" | "isLocalChange">,
  readChange: (args: readonly string[]) => Change,
): CommandFactory {
  return command({
    ...declared,
    isLocalChange: true,
    run: async (context, { arguments: [appKey = "", ...args] }) => {
      const { changeEmailAccess } = await import("./with-accounts.ts");
      return changeEmailAccess(context, appKey, await readChange(args));
    },
    render: viewOfAccess,
  });
}

export function viewOfAccess({ app_key, ...sending }: EmailAccessData) {
  return fields({ app_key, ...viewOfSending(sending) });
}

/** The rows about email in the views of an account. */
export function viewOfSending(sending: Omit<EmailAccessData, "app_key">) {
  const { email_not_enabled = 0, daily_quota_reached = 0 } = sending.held;
  return {
    "email sending": sending.email_enabled ? "enabled" : "not enabled",
    "emails per day": sending.daily_quota,
    "emails today": sending.used_today,
    "held until enabled": email_not_enabled,
    "held until tomorrow": daily_quota_reached,
    "test recipients": sending.test_recipients.join(", "),
  };
}
