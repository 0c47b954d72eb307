import { usageError } from "../../../config/user-error.ts";
import { ServiceError } from "../../../contract/errors.ts";
import { emailKeyOf } from "../../../contract/email-address.ts";
import { emailHolds } from "../../../contract/emails/sending.ts";
import { fields } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import type { Context } from "../../program/context.ts";

/** How many of the newest emails are searched for the test email, since orders may queue others at the same time. */
const searchedEmails = 100;

export default command({
  summary: "Send a test review-request email about a sample order",
  calls: "write",
  examples: ["starpost mail test --to you@shop.example", "starpost mail test --to ann@mail.example --json"],
  flags: {
    to: { value: "<address>", description: "recipient (default: the account's email address)" },
  },
  run: async (context, { flags: { to } }) => {
    const recipient = to === undefined ? {} : { email: to };
    const { mode } = await context.profile();
    const { email, appKey } = await context.withConnection(async ({ service, appKey: ownKey }) => {
      await service.emails.sendTest(recipient).catch((error: unknown) => {
        throw to === undefined ? explainMissingAddress(error) : error;
      });
      const { mails } = await service.emails.list({ ...recipient, category: "map", count: searchedEmails });
      return { email: mails.find(({ is_test }) => is_test), appKey: ownKey };
    });
    if (!email) throw new Error("the test email was queued but is not among the newest emails");
    const hold = mode === "local" ? await findHold(context, appKey, email.email) : undefined;
    const sender =
      mode === "local" ? "To send it, run `starpost mail run --once` or `starpost serve`." : "The service sends it.";
    context.messages.info(
      `Queued email ${email.id} to ${email.email}. ${hold ?? sender} To check its state, run \`starpost mail show ${email.id}\`.`,
    );
    return email;
  },
  render: ({ id, email, state }) => fields({ id, email, state }),
});

/** Explains why the email will be held, and what the operator can do; undefined if it will be sent. */
async function findHold(context: Context, appKey: string, recipient: string): Promise<string | undefined> {
  const { findEmailSettings } = await import("../../../config/email-settings.ts");
  const { env, paths } = await context.host();
  // Emails to the outbox folder need no permission.
  if (!(await findEmailSettings(env, paths)).smtp) return undefined;
  const { showEmailAccess } = await import("../account/with-accounts.ts");
  const { email_enabled, test_recipients, used_today, daily_quota } = await showEmailAccess(context, appKey);
  if (!email_enabled && !test_recipients.includes(emailKeyOf(recipient))) {
    return (
      `It is held, because ${emailHolds.email_not_enabled}. To send it, run \`starpost account enable-email ${appKey}\`, ` +
      `or, to allow only test emails to this address, \`starpost account approve-recipient ${appKey} ${recipient}\`.`
    );
  }
  if (used_today < daily_quota) return undefined;
  return (
    `It is held until tomorrow (UTC), because ${emailHolds.daily_quota_reached} (${daily_quota}). ` +
    `To raise it, run \`starpost account set-email-quota ${appKey} <emails>\`.`
  );
}

function explainMissingAddress(error: unknown): unknown {
  if (!(error instanceof ServiceError) || error.field !== "email") return error;
  const hint = "Specify the recipient: starpost mail test --to you@shop.example";
  return usageError("the account has no email address", hint, error);
}
