import {
  actorNames,
  emailKeyOf,
  type EmailRuleName,
  type EmailSettings,
  emailTypeOf,
  isCampaignCategory,
  isStoppedByRecipient,
  requestsWithoutOrder,
  type SentEmailCategory,
  templateCategoryOf,
} from "../../../contract/index.ts";
import type { Row } from "../../../storage/tables.ts";
import { readEmailSettings } from "../../accounts/account-settings.ts";
import { selectAccountRows } from "../../kernel/account-rows.ts";
import { accountIdOf, type HandlerContext } from "../../kernel/handler.ts";
import { dayOf } from "../../kernel/times.ts";
import { type DroppedProducts, type EmailLine, isRequest, readEmailLines, type RequestEmail } from "./email-lines.ts";
import { findAddressFacts, findOrderFacts, type LineFacts } from "./line-facts.ts";
import { findBlockingRule, type LineRuleName, lineRuleNames, reviewedSinceMs } from "./line-rules.ts";
import { sql } from "kysely";
import { batchOf } from "../../../storage/batch.ts";
import { createStatement } from "../../../storage/statement.ts";
import { dayMs } from "../../../contract/time.ts";

type Context = Pick<HandlerContext, "transaction" | "dialect" | "nowMs" | "sealer">;

/** An email in the outbox that is due. */
export type DueEmail = RequestEmail & Pick<Row<"mails">, "account_id" | "email_key" | "due_at">;

/** An email without an order that is due now, for the rules. */
export function toDueEmail(category: SentEmailCategory, email: string, context: HandlerContext): DueEmail {
  return {
    id: 0,
    account_id: accountIdOf(context),
    category,
    email_type_id: emailTypeOf[category],
    email,
    email_key: emailKeyOf(email),
    data: "{}",
    order_row: null,
    product_row: null,
    created_at: context.nowMs,
    due_at: context.nowMs,
  };
}

/** What the rules decide about an email. */
export interface EmailDecision {
  /** The rule that prevents the email; absent if it may be sent. */
  readonly rule?: EmailRuleName | undefined;
  /** The products that the email asks about. Empty if it is not sent, or does not belong to an order. */
  readonly productRows: readonly number[];
  /** The products of the order that the email does not mention; absent if it does not belong to an order. */
  readonly dropped?: DroppedProducts | undefined;
}

/**
 * Evaluates the rules for emails of an account that are due, in the transaction that sends or rejects them.
 * Source: `emailRuleTable`. Assumed: the limit per customer counts review requests that were sent, are being sent, or are
 * approved by this call, earliest due first. Emails that answer an action or are tests (verifications, confirmations)
 * do not count, and are rejected only if the address is unsubscribed from their type, reported spam, or bounced. An
 * email about an entire order mentions the products that no rule rejects; if none remains, the first rule in the
 * table that rejects any of them decides.
 * @param known the account's settings, if they are known; otherwise, they are read
 * @returns the decisions by email ID
 */
export async function evaluateEmails(
  emails: readonly DueEmail[],
  context: Context & Pick<HandlerContext, "account" | "ownerId">,
  known?: EmailSettings,
): Promise<ReadonlyMap<number, EmailDecision>> {
  const decisions = new Map<number, EmailDecision>();
  if (emails.length === 0) return decisions;
  const accountId = accountIdOf(context);
  const settings = known ?? (await readEmailSettings(context, accountId));
  const evaluation = { accountId, settings, decisions };
  const others = emails.filter((email) => !asksForSomething(email));
  await evaluateOtherEmails(others, evaluation, context);
  const requests = emails.filter(asksForSomething);
  await evaluateRequests(requests, evaluation, context);
  return decisions;
}

const withoutOrder: ReadonlySet<string> = new Set(requestsWithoutOrder);

function asksForSomething({ order_row, category }: Pick<DueEmail, "order_row" | "category">): boolean {
  return order_row !== null || withoutOrder.has(category);
}

interface Evaluation {
  readonly accountId: number;
  readonly settings: EmailSettings;
  readonly decisions: Map<number, EmailDecision>;
}

async function evaluateOtherEmails(
  emails: readonly DueEmail[],
  { accountId, settings, decisions }: Evaluation,
  context: Context,
): Promise<void> {
  const facts = await findAddressFacts(emails, accountId, context);
  const writers = await findWriters(emails, accountId, context);
  const withdrawn = await findWithdrawnReminders(emails, accountId, context);
  for (const email of emails) {
    const isEmpty = email.category === "my_reviews" && !writers.has(email.email_key);
    const ofCategory = isEmpty ? "nothing_written" : evaluateReminder(email, settings, withdrawn);
    const rule = evaluateAddress(email, facts.get(email.id), settings) ?? ofCategory;
    decisions.set(email.id, { rule, productRows: [] });
  }
}

/** Finds the addresses that have a confirmed review or question, among those to which a link to them is to be sent. */
async function findWriters(
  emails: readonly DueEmail[],
  accountId: number,
  { transaction, dialect }: Context,
): Promise<ReadonlySet<string>> {
  const requested = emails.filter(({ category }) => category === "my_reviews");
  if (requested.length === 0) return new Set();
  const rows = JSON.stringify(requested.map(({ email_key }) => [email_key]));
  const found = await selectWriters(transaction, dialect, { accountId, rows });
  return new Set(found.rows.map(({ email_key }) => email_key));
}

const selectWriters = createStatement<{ accountId: number; rows: string }, { email_key: string }>(
  (slot, dialect) => sql`
    select distinct batch.email_key from ${batchOf({ email_key: "text" }, slot("rows"), dialect)} cross join users
    where users.account_id = ${slot("accountId")} and users.email_key = batch.email_key and users.kind = 'shopper'
      and (exists (select 1 from reviews
          where reviews.account_id = ${slot("accountId")} and reviews.user_row = users.id)
        or exists (select 1 from questions
          where questions.account_id = ${slot("accountId")} and questions.user_row = users.id))`,
);

/** Finds the rule that prevents the reminder of a coupon code. */
function evaluateReminder(
  { id, category }: Pick<DueEmail, "id" | "category">,
  { send_coupons, send_coupon_reminders }: EmailSettings,
  withdrawn: ReadonlySet<number>,
): EmailRuleName | undefined {
  if (category !== "coupon_reminder") return undefined;
  if (!send_coupons || !send_coupon_reminders) return "requests_off";
  return withdrawn.has(id) ? "stopped_by_hand" : undefined;
}

/** Finds the reminders of coupon codes that the store has deleted. */
async function findWithdrawnReminders(
  emails: readonly DueEmail[],
  accountId: number,
  { transaction }: Context,
): Promise<ReadonlySet<number>> {
  const codes = new Map<number, string>();
  for (const { id, category, data } of emails) {
    if (category === "coupon_reminder") codes.set(id, (JSON.parse(data) as { coupon_code: string }).coupon_code);
  }
  if (codes.size === 0) return new Set();
  const found = await selectAccountRows("coupons", accountId, transaction)
    .select("code")
    .where("code", "in", [...codes.values()])
    .execute();
  const stored = new Set(found.map(({ code }) => code));
  return new Set([...codes].flatMap(([id, code]) => (stored.has(code) ? [] : [id])));
}

/** Finds the rule that prevents an email that does not belong to an order. */
function evaluateAddress(
  { email_type_id }: Pick<DueEmail, "email_type_id">,
  facts: LineFacts | undefined,
  { bounced_before }: EmailSettings,
): EmailRuleName | undefined {
  // After an erasure, people can still verify a review, as after they unsubscribed.
  const isByRecipient = facts?.unsubscribed?.byName !== actorNames.store;
  if (facts?.unsubscribed && (!isByRecipient || isStoppedByRecipient(email_type_id))) return "unsubscribed";
  if (facts?.reported_spam) return "reported_spam";
  return bounced_before && facts?.bounced_before ? "bounced_before" : undefined;
}

async function evaluateRequests(emails: readonly DueEmail[], evaluation: Evaluation, context: Context): Promise<void> {
  const { approved, rejected } = await evaluateProducts(
    emails,
    { ...evaluation, onDay: dayOf(context.nowMs) },
    context,
  );
  for (const [id, decision] of rejected) evaluation.decisions.set(id, decision);
  await applyRecipientLimit(approved, evaluation, context);
}

interface ProductDecisions<Email> {
  /** Emails that may be sent, subject to the limit per customer. */
  readonly approved: ReadonlyMap<Email, EmailDecision>;
  /** By email ID. */
  readonly rejected: ReadonlyMap<number, EmailDecision>;
}

/** Evaluates the product rules for review requests of an account, as if they were sent on the given day. */
export async function evaluateProducts<Email extends RequestEmail>(
  emails: readonly Email[],
  { accountId, settings, onDay }: Pick<Evaluation, "accountId" | "settings"> & { readonly onDay: number },
  context: Omit<Context, "nowMs">,
): Promise<ProductDecisions<Email>> {
  const approved = new Map<Email, EmailDecision>();
  const rejected = new Map<number, EmailDecision>();
  if (emails.length === 0) return { approved, rejected };
  const [lines, ofAddresses] = await context.dialect.runAll([
    () => readEmailLines(emails, accountId, context),
    () => findAddressFacts(emails, accountId, context),
  ]);
  const query = { accountId, reviewedSinceMs: reviewedSinceMs(settings, onDay) };
  const ofOrders = await findOrderFacts(lines, query, context);
  const linesByEmail = new Map<number, EmailLine[]>(emails.map(({ id }) => [id, []]));
  for (const line of lines) linesByEmail.get(line.mailId)?.push(line);
  for (const email of emails) {
    const applied = settingsOf(email.category, settings);
    const results = (linesByEmail.get(email.id) ?? []).map((line) => ({
      row: line.product_row,
      rule: findBlockingRule(line, {
        facts: { ...ofAddresses.get(email.id), ...ofOrders.get(line.id) },
        settings: applied,
        onDay,
      }),
    }));
    const productRows = results.flatMap(({ row, rule }) => (rule === undefined ? [row] : []));
    const dropped = results.flatMap(({ row, rule }) => (rule === undefined ? [] : [[row, rule]]));
    if (productRows.length > 0) approved.set(email, { productRows, dropped: Object.fromEntries(dropped) });
    else rejected.set(email.id, { rule: findDecidingRule(results.map(({ rule }) => rule)), productRows: [] });
  }
  return { approved, rejected };
}

/**
 * The settings that apply to a category.
 * Assumed: nobody is reminded who wrote the review, or after the account turned reminders off. The age of orders is checked
 * when a campaign queues its emails.
 */
function settingsOf(category: string, settings: EmailSettings): EmailSettings {
  const { send_review_requests, send_reminders, send_site_requests, send_site_reminders, ask_shoppers } = settings;
  const sends: Readonly<Record<string, boolean>> = {
    reminder: send_review_requests && send_reminders,
    mail_after_invoice: send_site_requests,
    mail_after_service: true,
    answer_request_shoppers: ask_shoppers,
    site_reminder: send_site_requests && send_site_reminders,
  };
  const template = templateCategoryOf(category);
  const isReminder = template === "reminder" || template === "site_reminder";
  return {
    ...settings,
    order_too_old: settings.order_too_old && !isCampaignCategory(template),
    // Those who reviewed the store know something about its products.
    reviewed_lately: (settings.reviewed_lately || isReminder) && template !== "answer_request_shoppers",
    send_review_requests: sends[template] ?? send_review_requests,
  };
}

/** An email whose products were removed from the order is treated like one that was canceled. */
export function findDecidingRule(rules: readonly (LineRuleName | undefined)[]): LineRuleName {
  return lineRuleNames.find((name) => rules.includes(name)) ?? "mails_stopped";
}

/** Approves emails, earliest due first, up to the limit per customer. */
async function applyRecipientLimit(
  approved: ReadonlyMap<DueEmail, EmailDecision>,
  { accountId, settings, decisions }: Evaluation,
  context: Context,
): Promise<void> {
  if (approved.size === 0) return;
  const max = settings.too_many_to_person ? settings.most_mails_to_person : Number.POSITIVE_INFINITY;
  const counts = settings.too_many_to_person
    ? await countRecentEmails([...approved.keys()], { accountId, days: settings.most_mails_days }, context)
    : new Map<string, number>();
  const inOrder = [...approved].toSorted(([a], [b]) => a.due_at - b.due_at || a.id - b.id);
  for (const [{ id, email_key }, decision] of inOrder) {
    const count = counts.get(email_key) ?? 0;
    if (count >= max) {
      decisions.set(id, { rule: "too_many_to_person", productRows: [] });
      continue;
    }
    counts.set(email_key, count + 1);
    decisions.set(id, decision);
  }
}

const countSent = createStatement<
  { accountId: number; since: number; rows: string },
  { email_key: string; emails: number }
>(
  (slot, dialect) => sql`
    select batch.email_key, count(*) as emails
    from ${batchOf({ email_key: "text" }, slot("rows"), dialect)} cross join mails
    where mails.account_id = ${slot("accountId")} and mails.email_key = batch.email_key
      and mails.sent_at >= ${slot("since")} and ${isRequest}
    group by batch.email_key`,
);

/** Emails claimed by other workers, which may be sent at any time. */
const selectLeased = createStatement<{ accountId: number }, { id: number; email_key: string }>(
  (slot) => sql`
    select id, email_key from mails
    where leased_until > 0 and state in ('leased', 'sending') and account_id = ${slot("accountId")}
      and ${isRequest}`,
);

/**
 * Counts the review requests that the recipients of these emails received in the last `days` days, including today, or
 * are about to receive.
 * @returns counts by address key
 */
async function countRecentEmails(
  emails: readonly Pick<Row<"mails">, "id" | "email_key">[],
  { accountId, days }: { readonly accountId: number; readonly days: number },
  { transaction, dialect, nowMs }: Context,
): Promise<Map<string, number>> {
  const keys = new Set(emails.map(({ email_key }) => email_key));
  const since = (dayOf(nowMs) - days + 1) * dayMs;
  const rows = JSON.stringify([...keys].map((key) => [key]));
  const [sent, leased] = await dialect.runAll([
    () => countSent(transaction, dialect, { accountId, since, rows }),
    () => selectLeased(transaction, dialect, { accountId }),
  ]);
  const counts = new Map(sent.rows.map(({ email_key, emails: count }) => [email_key, count]));
  const ids = new Set(emails.map(({ id }) => id));
  for (const { id, email_key } of leased.rows) {
    if (!ids.has(id) && keys.has(email_key)) counts.set(email_key, (counts.get(email_key) ?? 0) + 1);
  }
  return counts;
}
