import { type EmailCategory, type EmailHold, emailSendingLimits } from "../../../contract/index.ts";
import { dayMs } from "../../../contract/time.ts";
import type { Row } from "../../../storage/tables.ts";
import { type EmailPermission, listTestRecipients } from "../../accounts/email-permissions.ts";
import { readAppKey } from "../../accounts/account-profile.ts";
import { selectAccountRows, updateAccountRows } from "../../kernel/account-rows.ts";
import { noteDue } from "../../kernel/due-times.ts";
import { accountIdOf, type HandlerContext } from "../../kernel/handler.ts";
import { dayOf } from "../../kernel/times.ts";
import { sql } from "kysely";

type Context = Pick<HandlerContext, "transaction" | "dialect" | "nowMs" | "account" | "ownerId">;
type EmailRow = Row<"mails">;

/** Emails of an account that were held. */
export interface HeldEmails {
  readonly appKey: string;
  readonly reason: EmailHold;
  readonly emails: number;
}

/** What becomes of emails that are due. */
interface Permitted {
  readonly permitted: readonly EmailRow[];
  /** Emails that were held for so long that they are not sent anymore. */
  readonly expired: readonly EmailRow[];
  readonly held: readonly HeldEmails[];
}

/** The number of further due emails of an account that are held at once, so that they do not delay other accounts. */
const batchSize = 1_000;

/**
 * Holds the due emails that their account may not send now: before the operator enables email, and above the quota. All
 * are of one account.
 */
export async function holdEmails(
  due: readonly EmailRow[],
  { isEnabled, dailyQuota, usedToday }: EmailPermission,
  context: Context,
): Promise<Permitted> {
  const accountId = accountIdOf(context);
  const expired = due.filter((row) => isExpired(row, context));
  const current = due.filter((row) => !isExpired(row, context));
  const allowed = isEnabled ? current : await filterApprovedTests(current, context);
  const permitted = allowed.slice(0, Math.max(0, dailyQuota - usedToday));
  const held: HeldEmails[] = [];
  const holdAll = async (rows: readonly EmailRow[], reason: EmailHold, holdsOthers: boolean) => {
    if (rows.length === 0) return;
    await hold(rows, reason, context);
    const others = holdsOthers ? await holdOthers(reason, context) : 0;
    held.push({ appKey: await readAppKey(context, accountId), reason, emails: rows.length + others });
  };
  const disallowed = current.filter((row) => !allowed.includes(row));
  await holdAll(disallowed, "email_not_enabled", true);
  await holdAll(allowed.slice(permitted.length), "daily_quota_reached", permitted.length === 0 && isEnabled);
  return { permitted, expired, held };
}

function isExpired({ held_at }: EmailRow, { nowMs }: Pick<Context, "nowMs">): boolean {
  return held_at !== null && nowMs - held_at > emailSendingLimits.holdMs;
}

const testCategory = "map" satisfies EmailCategory;

/** Selects the test emails to recipients whom the operator has approved. */
async function filterApprovedTests(rows: readonly EmailRow[], context: Context): Promise<readonly EmailRow[]> {
  const tests = rows.filter(({ category, order_row }) => category === testCategory && order_row === null);
  if (tests.length === 0) return [];
  const approved = new Set(await listTestRecipients(accountIdOf(context), context));
  return tests.filter(({ email_key }) => approved.has(email_key));
}

/** An email that may have been sent keeps the name of its worker, from which the next worker knows. */
async function hold(rows: readonly EmailRow[], reason: EmailHold, context: Context): Promise<void> {
  const ids = rows.map(({ id }) => id);
  await updateAccountRows("mails", accountIdOf(context), context.transaction)
    .set({
      ...toHold(reason, context.nowMs),
      state: "queued",
      worker: sql<string | null>`case when state = 'leased' then null else worker end`,
      leased_until: null,
    })
    .where("id", "in", ids)
    .execute();
}

/** Holds further emails of the account that are due, except test emails, which may have an approved recipient. */
async function holdOthers(reason: EmailHold, context: Context): Promise<number> {
  const { transaction, nowMs } = context;
  const accountId = accountIdOf(context);
  const others = selectAccountRows("mails", accountId, transaction)
    .select("id")
    .where("state", "=", "queued")
    .where("due_at", "<=", nowMs)
    .where("worker", "is", null)
    .where((eb) => eb.or([eb("order_row", "is not", null), eb("category", "<>", testCategory)]))
    .orderBy("due_at")
    .limit(batchSize);
  const { numUpdatedRows } = await updateAccountRows("mails", accountId, transaction)
    .set(toHold(reason, nowMs))
    .where("id", "in", others)
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

function toHold(reason: EmailHold, nowMs: number) {
  return { reason, due_at: (dayOf(nowMs) + 1) * dayMs, held_at: sql<number>`coalesce(held_at, ${nowMs})` };
}

/** Makes held emails due again. */
export async function releaseHeldEmails(
  accountId: number,
  reason: EmailHold,
  context: Pick<HandlerContext, "transaction" | "dialect" | "nowMs">,
  emailKey?: string,
): Promise<void> {
  const { transaction, nowMs } = context;
  await updateAccountRows("mails", accountId, transaction)
    .set({ due_at: nowMs, reason: null })
    .where("state", "=", "queued")
    .where("reason", "=", reason)
    .$if(emailKey !== undefined, (mails) => mails.where("email_key", "=", emailKey ?? ""))
    .execute();
  await noteDue("emails_due_at", accountId, context);
}
