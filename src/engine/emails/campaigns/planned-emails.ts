import { createHash } from "node:crypto";
import { sql } from "kysely";
import {
  type CampaignCategory,
  emailKeyOf,
  type EmailRuleName,
  type EmailSettings,
  isSiteRequest,
} from "../../../contract/index.ts";
import { batchOf } from "../../../storage/batch.ts";
import { createStatement } from "../../../storage/statement.ts";
import { dayMs } from "../../../contract/time.ts";
import { accountIdOf, type HandlerContext } from "../../kernel/handler.ts";
import { dayOf } from "../../kernel/times.ts";
import { wholeOrderRow } from "../../orders/order-emails.ts";
import { readRequestData } from "../rules/email-lines.ts";
import { findDecidingRule } from "../rules/evaluation.ts";
import { findLineFacts, type OrderLine, storeRow } from "../rules/line-facts.ts";
import { findBlockingRule, reviewedSinceMs } from "../rules/line-rules.ts";

/** The filters of a campaign's orders, as they are stored. */
export interface Selection {
  /** Order dates, in milliseconds; the end is not part of the range. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly products?: readonly string[] | undefined;
  /** The number of orders that were chosen one by one; absent if all are candidates. */
  readonly listed?: number | undefined;
}

export interface Plan {
  /** Absent if the campaign does not exist yet. */
  readonly campaignId?: number | undefined;
  readonly category: CampaignCategory;
  readonly selection: Selection;
  readonly settings: EmailSettings;
  /** What earlier emails of the plan ask about: see `hashAsked`. */
  readonly asked: Set<number>;
}

/** An email of a campaign about an order, or about one of its products. */
export interface PlannedEmail {
  readonly order_row: number;
  readonly product_row: number;
  readonly email_key: string;
  /** The products that it asks about, by row. */
  readonly only: readonly number[];
  /** The rule that prevents it. */
  readonly rule: EmailRuleName | undefined;
}

interface PlannedEmails {
  readonly emails: readonly PlannedEmail[];
  /** The number of orders that the filters choose, and of those that were imported without emails. */
  readonly orders: number;
  readonly pastOrders: number;
  /** The number of emails that are not planned because campaigns asked about the same before. */
  readonly askedBefore: number;
}

interface Line extends OrderLine {
  readonly order_row: number;
  readonly sends_mail: number;
}

/** The mark of a campaign in the column `resends` of its emails. An order has one email per campaign at most. */
export const markOf = (campaignId: number) => -campaignId;

const selectLines = createStatement<
  { accountId: number; since: number; until: number; rows: string },
  Omit<Line, "id">
>((slot, dialect) => {
  const accountId = slot("accountId");
  return sql`
    select orders.id as order_row, orders.order_id, orders.email, orders.order_date, orders.sends_mail,
      products.id as product_row, products.product_id, products.blacklisted
    from ${batchOf({ order_row: "integer" }, slot("rows"), dialect)} cross join orders cross join purchases cross join products
    where orders.account_id = ${accountId} and orders.id = batch.order_row
      and orders.order_date >= ${slot("since")} and orders.order_date < ${slot("until")}
      and purchases.account_id = ${accountId} and purchases.order_row = batch.order_row and purchases.unit = 1
      and products.account_id = ${accountId} and products.id = purchases.product_row`;
});

/**
 * Plans the emails of a campaign about orders, in the order of the orders, and evaluates their rules.
 * Assumed: `past_order` does not apply, because a campaign chooses orders itself. Old orders are only included if they
 * are chosen by date or one by one. A campaign asks nobody twice about a product, or about the store, nor if another campaign
 * did in the period of recent reviews.
 */
export async function planEmails(
  orderRows: readonly number[],
  plan: Plan,
  context: HandlerContext,
): Promise<PlannedEmails> {
  const lines = await readLines(orderRows, plan, context);
  const accountId = accountIdOf(context);
  const onDay = dayOf(context.nowMs);
  const { category } = plan;
  const isChosen = plan.selection.since !== undefined || plan.selection.listed !== undefined;
  const settings = { ...plan.settings, order_too_old: plan.settings.order_too_old && !isChosen };
  const query = { accountId, category, reviewedSinceMs: reviewedSinceMs(settings, onDay) };
  const facts = await findLineFacts(lines, query, context);
  const asked = await findAsked(lines, plan, query.reviewedSinceMs, context);
  const emails: PlannedEmail[] = [];
  let askedBefore = 0;
  for (const ofEmail of groupLines(lines, settings)) {
    const [first] = ofEmail;
    if (!first) continue;
    const email_key = emailKeyOf(first.email);
    const isNew = ({ id, product_row }: Line) => !asked.has(id) && !plan.asked.has(hashAsked(email_key, product_row));
    const unasked = ofEmail.filter(isNew);
    if (unasked.length === 0) {
      askedBefore += 1;
      continue;
    }
    const rules = unasked.map((line) => findBlockingRule(line, { facts: facts.get(line.id), settings, onDay }));
    const isSent = rules.includes(undefined);
    const rule = isSent ? undefined : findDecidingRule(rules);
    const only = unasked.map(({ product_row }) => product_row);
    if (isSent) for (const product of only) plan.asked.add(hashAsked(email_key, product));
    const product_row = settings.one_mail_per === "order" ? wholeOrderRow : first.product_row;
    emails.push({ order_row: first.order_row, product_row, email_key, only, rule });
  }
  const orders = new Map(lines.map((line) => [line.order_row, line.sends_mail]));
  const pastOrders = [...orders.values()].filter((sendsMail) => sendsMail === 0).length;
  return { emails, orders: orders.size, pastOrders, askedBefore };
}

const aboutStore = { product_row: storeRow, product_id: "", blacklisted: 0 };

/** Reads the products of the orders that the filters choose; for requests to review the store, one line per order. */
async function readLines(
  orderRows: readonly number[],
  { category, selection: { since = 0, until = Number.MAX_SAFE_INTEGER, products } }: Plan,
  context: HandlerContext,
): Promise<readonly Line[]> {
  const { transaction, dialect } = context;
  const rows = JSON.stringify(orderRows.map((row) => [row]));
  const found = await selectLines(transaction, dialect, { accountId: accountIdOf(context), since, until, rows });
  const chosen = products && new Set(products);
  const ofProducts = found.rows.filter(({ product_id }) => chosen?.has(product_id) ?? true);
  const ofStore = () => new Map(ofProducts.map((line) => [line.order_row, Object.assign(line, aboutStore)])).values();
  return (isSiteRequest(category) ? [...ofStore()] : ofProducts)
    .toSorted((a, b) => a.order_row - b.order_row || a.product_row - b.product_row)
    .map((line, id) => Object.assign(line, { id }));
}

/** The lines of each email. */
function groupLines(lines: readonly Line[], { one_mail_per }: EmailSettings): readonly (readonly Line[])[] {
  if (one_mail_per === "product") return lines.map((line) => [line]);
  const byOrder = new Map<number, Line[]>();
  for (const line of lines) byOrder.set(line.order_row, [...(byOrder.get(line.order_row) ?? []), line]);
  return [...byOrder.values()];
}

/** 48 bits of a digest, because a forecast may cover millions of emails. */
function hashAsked(emailKey: string, productRow: number): number {
  return createHash("sha256").update(`${productRow} ${emailKey}`).digest().readUIntBE(0, 6);
}

interface AskedQuery {
  readonly accountId: number;
  readonly category: string;
  readonly mark: number;
  readonly since: number;
  readonly rows: string;
}

const askedColumns = { id: "integer", email_key: "text", product_row: "integer" } as const;

/** Emails of campaigns about the same products to the same people. Those that a rule prevented do not count. */
const selectAsked = createStatement<AskedQuery, { id: number; data: string; product_row: number }>(
  (slot, dialect) => sql`
    select batch.id, batch.product_row, mails.data from ${batchOf(askedColumns, slot("rows"), dialect)} cross join mails
    where mails.account_id = ${slot("accountId")} and mails.email_key = batch.email_key
      and mails.category = ${slot("category")} and mails.state <> 'not_sent' and mails.resends < 0
      and (mails.resends = ${slot("mark")} or mails.created_at >= ${slot("since")})`,
);

/** Finds the lines whose customers were asked about their products. */
async function findAsked(
  lines: readonly Line[],
  { campaignId = 0, category }: Plan,
  since: number,
  context: HandlerContext,
): Promise<ReadonlySet<number>> {
  if (lines.length === 0) return new Set();
  const { transaction, dialect } = context;
  const rows = JSON.stringify(lines.map(({ id, email, product_row }) => [id, emailKeyOf(email), product_row]));
  const query = { accountId: accountIdOf(context), category, mark: markOf(campaignId), since, rows };
  const found = await selectAsked(transaction, dialect, query);
  return new Set(
    found.rows.flatMap(({ id, product_row, data }) =>
      readRequestData({ data }).only?.includes(product_row) ? [id] : [],
    ),
  );
}

/** The day on which the email at a position of a campaign is sent at its rate. */
export function dayAtRate(position: number, perHour: number, { nowMs }: Pick<HandlerContext, "nowMs">): number {
  return dayOf(nowMs + (position / perHour) * (dayMs / 24));
}
