import { sql } from "kysely";
import { type CampaignCategory, type EmailRuleName, emailTypeOf } from "../../../contract/index.ts";
import { batchOf } from "../../../storage/batch.ts";
import { createStatement } from "../../../storage/statement.ts";
import { hourMs } from "../../../contract/time.ts";
import { batchColumns, type Row } from "../../../storage/tables.ts";
import { readEmailSettings } from "../../accounts/account-settings.ts";
import { updateRows } from "../../kernel/account-rows.ts";
import { accountIdOf, type HandlerContext } from "../../kernel/handler.ts";
import { markOf, type PlannedEmail, planEmails, type Selection } from "./planned-emails.ts";

/** How far ahead emails are queued. So this is also the time in which more than the rate may be sent after a pause. */
const horizonMs = 10_000;

/** Emails that one transaction queues, which other calls wait for. */
const maxQueued = 500;

/** Orders that one step reads, and steps that one transaction takes until it finds emails. */
const stepSize = { min: 50, max: 1_000 } as const;
const maxSteps = 20;

/** Campaigns that one transaction looks at, until one of them has emails. */
const maxCampaigns = 10;

const selectDue = createStatement<{ accountId: number; nowMs: number }, Row<"campaigns">>(
  (slot) => sql`
    select * from campaigns where account_id = ${slot("accountId")} and next_at <= ${slot("nowMs")}
    order by next_at limit ${sql.lit(maxCampaigns)}`,
);

/** An email of a campaign that a rule prevents. */
interface PreventedEmail {
  readonly row: Pick<Row<"mails">, "id" | "account_id" | "category">;
  readonly rule: EmailRuleName;
}

/** Finds the campaigns of an account that are to queue emails, those that have waited longest first. */
export async function findDueCampaigns(context: HandlerContext): Promise<readonly Row<"campaigns">[]> {
  const { transaction, dialect, nowMs } = context;
  return (await selectDue(transaction, dialect, { accountId: accountIdOf(context), nowMs })).rows;
}

/**
 * Queues the next emails of the campaign of an account that has waited longest: those of the next seconds, each at its time.
 * Its progress is stored in the same transaction, so that it can be interrupted at any time. It waits while its earlier emails do.
 * @returns the emails that rules prevent, which are queued as well
 */
export async function queueCampaignEmails(
  due: readonly Row<"campaigns">[],
  context: HandlerContext,
): Promise<readonly PreventedEmail[]> {
  for (const campaign of due) {
    const prevented = await queueNext(campaign, context);
    if (prevented) return prevented;
  }
  return [];
}

/** @returns the emails that rules prevent; undefined if none were queued */
async function queueNext(
  campaign: Row<"campaigns">,
  context: HandlerContext,
): Promise<readonly PreventedEmail[] | undefined> {
  const { nowMs } = context;
  if (await isBehind(campaign.id, context)) {
    await updateRows("campaigns", { next_at: nowMs + horizonMs }, { id: campaign.id }, context);
    return undefined;
  }
  const intervalMs = hourMs / campaign.per_hour;
  const startMs = Math.max(campaign.next_at ?? 0, nowMs);
  const free = Math.ceil((nowMs + horizonMs - startMs) / intervalMs);
  const { planned, walkedTo, isDone } = await planNext(campaign, Math.min(Math.max(free, 1), maxQueued), context);
  let sent = 0;
  const dated = planned.map((email) => {
    const at = email.rule === undefined ? startMs + Math.floor(intervalMs * sent++) : nowMs;
    return { email, at };
  });
  const prevented = await insertEmails(campaign, dated, context);
  const next = isDone
    ? { state: "done", next_at: null }
    : { next_at: sent === 0 ? nowMs : startMs + Math.ceil(intervalMs * sent) };
  await updateRows("campaigns", { walked_to: walkedTo, ...next }, { id: campaign.id }, context);
  return planned.length === 0 ? undefined : prevented;
}

/** Whether emails of the campaign could not be sent in time, because they are held, or the mail server cannot be reached. */
async function isBehind(campaignId: number, { transaction, nowMs, ...context }: HandlerContext): Promise<boolean> {
  const late = await transaction
    .selectFrom("mails")
    .select("id")
    .where("account_id", "=", accountIdOf(context))
    .where("resends", "=", markOf(campaignId))
    .where("resends", "<", 0)
    .where("state", "=", "queued")
    .where((eb) => eb.or([eb("held_at", "is not", null), eb("due_at", "<=", nowMs - horizonMs)]))
    .limit(1)
    .executeTakeFirst();
  return late !== undefined;
}

/** Plans emails, order by order, until some are found. */
async function planNext(campaign: Row<"campaigns">, wanted: number, context: HandlerContext) {
  const { id: campaignId, category } = campaign;
  const selection = JSON.parse(campaign.selection) as Selection;
  const settings = await readEmailSettings(context, campaign.account_id);
  const plan = { campaignId, category: category as CampaignCategory, selection, settings, asked: new Set<number>() };
  const planned: PlannedEmail[] = [];
  let { walked_to: walkedTo } = campaign;
  let left = wanted;
  for (let step = 0; step < maxSteps && planned.length === 0; step++) {
    const limit = step === 0 ? Math.min(Math.max(left, stepSize.min), stepSize.max) : stepSize.max;
    const orderRows = await findNextOrders({ ...campaign, walked_to: walkedTo }, selection, limit, context);
    const { emails } = await planEmails(orderRows, plan, context);
    for (const email of emails) {
      // All emails about an order are queued together.
      if (left <= 0 && email.order_row !== walkedTo) return { planned, walkedTo, isDone: false };
      planned.push(email);
      if (email.rule === undefined) left -= 1;
      walkedTo = email.order_row;
    }
    walkedTo = orderRows.at(-1) ?? walkedTo;
    if (orderRows.length < limit) return { planned, walkedTo, isDone: true };
  }
  return { planned, walkedTo, isDone: false };
}

interface NextOrders {
  readonly accountId: number;
  readonly campaignId: number;
  readonly after: number;
  readonly last: number;
  readonly limit: number;
}

/** Orders are found through their purchases, whose keys begin with the account and the order. */
const selectOrders = createStatement<Omit<NextOrders, "campaignId">, { readonly order_row: number }>(
  (slot) => sql`
    select distinct order_row from purchases
    where account_id = ${slot("accountId")} and order_row > ${slot("after")} and order_row <= ${slot("last")}
    order by order_row limit ${slot("limit")}`,
);

const selectListed = createStatement<Omit<NextOrders, "last">, { readonly order_row: number }>(
  (slot) => sql`
    select order_row from campaign_orders
    where account_id = ${slot("accountId")} and campaign_row = ${slot("campaignId")} and order_row > ${slot("after")}
    order by order_row limit ${slot("limit")}`,
);

/** Finds the next orders that a campaign may choose. */
export async function findNextOrders(
  { id: campaignId, walked_to: after, last_order: last }: Pick<Row<"campaigns">, "id" | "walked_to" | "last_order">,
  { listed }: Selection,
  limit: number,
  context: HandlerContext,
): Promise<readonly number[]> {
  const { transaction, dialect } = context;
  const query = { accountId: accountIdOf(context), after, limit };
  const { rows } =
    listed === undefined
      ? await selectOrders(transaction, dialect, { ...query, last })
      : await selectListed(transaction, dialect, { ...query, campaignId });
  return rows.map(({ order_row }) => order_row);
}

const insertedColumns = ["order_row", "product_row", "email_key", "due_at", "data"] as const;

const insert = createStatement<
  { accountId: number; category: string; type: number; mark: number; nowMs: number; rows: string },
  Pick<Row<"mails">, "id" | "account_id" | "category" | "order_row" | "product_row">
>(
  (slot, dialect) => sql`
    insert into mails (account_id, category, email_type_id, resends, state, created_at, order_row, product_row, email,
      email_key, name, due_at, data)
    select cast(${slot("accountId")} as bigint), cast(${slot("category")} as text), cast(${slot("type")} as integer),
      cast(${slot("mark")} as bigint), 'queued', cast(${slot("nowMs")} as bigint), orders.id, batch.product_row,
      orders.email, batch.email_key, orders.customer_name, batch.due_at, batch.data
    from ${batchOf(batchColumns("mails", insertedColumns), slot("rows"), dialect)} cross join orders
    where orders.account_id = ${slot("accountId")} and orders.id = batch.order_row
    ${dialect.inBatchOrder}
    on conflict (account_id, order_row, product_row, category, resends) where order_row is not null do nothing
    returning id, account_id, category, order_row, product_row`,
);

async function insertEmails(
  { id, category }: Row<"campaigns">,
  emails: readonly { readonly email: PlannedEmail; readonly at: number }[],
  context: HandlerContext,
): Promise<readonly PreventedEmail[]> {
  if (emails.length === 0) return [];
  const { transaction, dialect, nowMs } = context;
  const rows = emails.map(({ email: { order_row, product_row, email_key, only }, at }) => [
    order_row,
    product_row,
    email_key,
    at,
    JSON.stringify({ only }),
  ]);
  const inserted = await insert(transaction, dialect, {
    accountId: accountIdOf(context),
    category,
    type: emailTypeOf[category as CampaignCategory],
    mark: markOf(id),
    nowMs,
    rows: JSON.stringify(rows),
  });
  const rules = new Map(
    emails.map(({ email: { order_row, product_row, rule } }) => [`${order_row} ${product_row}`, rule]),
  );
  return inserted.rows.flatMap((row) => {
    const rule = rules.get(`${row.order_row} ${row.product_row}`);
    return rule === undefined ? [] : [{ row, rule }];
  });
}
