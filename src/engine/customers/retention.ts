import { sql } from "kysely";
import { emailRuleNames } from "../../contract/index.ts";
import { dayMs } from "../../contract/time.ts";
import { readSettings } from "../accounts/account-settings.ts";
import { deleteAccountRows, deleteRows, selectAccountRows, updateAccountRows } from "../kernel/account-rows.ts";
import { createAccountWalk } from "../kernel/account-walk.ts";
import { removeFromIndex } from "../kernel/lists/part-index.ts";
import { accountIdOf, type HandlerContext } from "../kernel/handler.ts";

/** Emails and deliveries per transaction. */
export const maxTrimmed = 500;

/** Finds accounts that keep emails or webhook deliveries for a limited time. */
export const findAccountsWithRetention = createAccountWalk(
  (accountId) => sql`select 1 from account_settings where account_settings.account_id = ${accountId}
    and account_settings.name in ('retain_emails', 'retain_webhooks')`,
);

/**
 * Removes the address and content of old emails that are not queued, and old webhook deliveries that have ended. The emails
 * themselves stay, so that orders get no second ones, and statistics do not change.
 * @returns the number of emails and deliveries; less than `maxTrimmed` if none is left
 */
export async function trimOldRecords(context: HandlerContext): Promise<number> {
  const accountId = accountIdOf(context);
  const found = await readSettings(["retain_emails", "retain_webhooks"], context, accountId);
  const cutoffOf = (days: unknown) => (typeof days === "number" ? context.nowMs - days * dayMs : undefined);
  const [emailsBefore, webhooksBefore] = [cutoffOf(found.retain_emails), cutoffOf(found.retain_webhooks)];
  const emails = emailsBefore === undefined ? 0 : await trimEmails(accountId, emailsBefore, context);
  const webhooks = webhooksBefore === undefined ? 0 : await trimDeliveries(accountId, webhooksBefore, context);
  return Math.max(emails, webhooks);
}

async function trimEmails(accountId: number, beforeMs: number, context: HandlerContext): Promise<number> {
  const { transaction } = context;
  const rows = await selectAccountRows("mails", accountId, transaction)
    .select("id")
    .where("email_key", "!=", "")
    .where("created_at", "<", beforeMs)
    .where((eb) => eb.or([eb("sent_at", "is", null), eb("sent_at", "<", beforeMs)]))
    .where("state", "in", ["sent", "bounced", "failed", "not_sent"])
    .orderBy("id")
    .limit(maxTrimmed)
    .execute();
  if (rows.length === 0) return 0;
  const ids = rows.map(({ id }) => id);
  await removeFromIndex("mails", ids, context);
  const update = updateAccountRows("mails", accountId, transaction).where("id", "in", ids);
  await update.set({ email: "", email_key: "", name: "", data: "{}", provider_id: null }).execute();
  // Responses of mail servers quote addresses.
  await update.set({ reason: null }).where("reason", "not in", emailRuleNames).execute();
  await updateAccountRows("mail_events", accountId, transaction)
    .set({ detail: null })
    .where("mail_row", "in", ids)
    .where("detail", "not in", emailRuleNames)
    .execute();
  await deleteRows("mail_messages", { account_id: accountId, mail_row: ids }, { transaction });
  return ids.length;
}

async function trimDeliveries(accountId: number, beforeMs: number, { transaction }: HandlerContext): Promise<number> {
  const rows = await selectAccountRows("webhook_deliveries", accountId, transaction)
    .select("id")
    .where("created_at", "<", beforeMs)
    .where("state", "in", ["delivered", "failed"])
    .orderBy("id")
    .limit(maxTrimmed)
    .execute();
  if (rows.length === 0) return 0;
  const ids = rows.map(({ id }) => id);
  const attempts = deleteAccountRows("webhook_attempts", accountId, transaction);
  await attempts.where("delivery_row", "in", ids).execute();
  const deliveries = deleteAccountRows("webhook_deliveries", accountId, transaction);
  await deliveries.where("id", "in", ids).execute();
  return ids.length;
}
