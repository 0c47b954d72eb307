import { sql } from "kysely";
import type * as z from "zod";
import {
  type Campaign,
  type CampaignState,
  type contract,
  emailKeyOf,
  emailSendingLimits,
  emailStates,
  invalidField,
  recordNotFound,
  ServiceError,
} from "../../../contract/index.ts";
import { batchRows } from "../../../storage/batch.ts";
import { hourMs } from "../../../contract/time.ts";
import type { Row } from "../../../storage/tables.ts";
import { findRow, selectAccountRows, updateAccountRows, updateRows } from "../../kernel/account-rows.ts";
import { noteDue } from "../../kernel/due-times.ts";
import { accountOf, type HandlerContext, type Handlers, operation } from "../../kernel/handler.ts";
import { iso } from "../../kernel/times.ts";
import { buyerIndex } from "../../orders/buyer-lookup.ts";
import { forecastCampaign } from "./campaign-forecast.ts";
import { markOf, type Selection } from "./planned-emails.ts";

type CampaignRow = Row<"campaigns">;
type Progress = z.output<typeof contract.campaigns.get.output>;
type Chosen = Omit<z.output<typeof contract.campaigns.forecast.input>, "category" | "emails_per_hour">;

/** The orders that a campaign chooses one by one need the index of addresses. */
const indexOf = ({ emails }: Chosen) => (emails ? buyerIndex : undefined);

export const campaignHandlers: Handlers<typeof contract.campaigns> = {
  forecast: operation("campaigns.forecast", {
    before: (input) => indexOf(input),
    run: async (input, context) => {
      const { selection, orderRows, notFound } = await readSelection(input, context);
      return { ...(await forecastCampaign({ ...input, selection, orderRows }, context)), not_found: notFound };
    },
  }),

  /**
   * Starts a campaign about the orders that exist now.
   * @throws ServiceError `invalidParams` if the name is used, or nothing is chosen
   * Assumed: names are unique, so that a repeated command starts no second campaign.
   */
  create: operation("campaigns.create", {
    before: (input) => indexOf(input),
    run: async ({ name, category, emails_per_hour, ...chosen }, context) => {
      const { id: accountId } = accountOf(context);
      if (await findRow("campaigns", ["id"], { name }, context)) {
        throw invalidField("name", `${JSON.stringify(name)} is used by another campaign`);
      }
      const { selection, orderRows } = await readSelection(chosen, context);
      if (orderRows?.length === 0) throw new ServiceError("invalidParams", "none of the orders was found");
      const { transaction, nowMs } = context;
      const campaign = {
        account_id: accountId,
        name,
        category,
        selection: JSON.stringify(selection),
        per_hour: emails_per_hour,
        state: "running",
        created_at: nowMs,
        next_at: nowMs,
        walked_to: 0,
        last_order: await findLastOrder(context),
      };
      const { id } = await transaction
        .insertInto("campaigns")
        .values(campaign)
        .returning("id")
        .executeTakeFirstOrThrow();
      if (orderRows) await insertOrders(id, orderRows, context);
      await noteDue("emails_due_at", accountId, context);
      return { campaign: toRecord({ ...campaign, id }) };
    },
  }),

  list: async (_input, context) => {
    const { id: accountId } = accountOf(context);
    const rows = await selectAccountRows("campaigns", accountId, context.transaction)
      .selectAll()
      .orderBy("id", "desc")
      .execute();
    return { campaigns: rows.map(toRecord) };
  },

  get: async ({ campaign_id }, context) => readProgress(await findCampaign(campaign_id, context), context),

  /**
   * Assumed: queued emails of a stopped campaign are held, and sent when it is resumed. After 30 days, they are not sent
   * anymore. An email that is being sent may still arrive.
   */
  stop: async ({ campaign_id }, context) => {
    const campaign = await findCampaign(campaign_id, context);
    const held = await holdEmails(campaign_id, context);
    if (campaign.state !== "running" && held === 0) return readProgress(campaign, context);
    const change = { state: "stopped", next_at: null } as const;
    await updateRows("campaigns", change, { id: campaign_id }, context);
    return readProgress({ ...campaign, ...change }, context);
  },

  resume: async ({ campaign_id }, context) => {
    const campaign = await findCampaign(campaign_id, context);
    if (campaign.state !== "stopped") return readProgress(campaign, context);
    const change = { state: "running", next_at: await releaseEmails(campaign, context) } as const;
    await updateRows("campaigns", change, { id: campaign_id }, context);
    await noteDue("emails_due_at", campaign.account_id, context);
    return readProgress({ ...campaign, ...change }, context);
  },
};

async function findCampaign(id: number, context: HandlerContext): Promise<CampaignRow> {
  const row = await selectAccountRows("campaigns", accountOf(context).id, context.transaction)
    .selectAll()
    .where("id", "=", id)
    .executeTakeFirst();
  if (row) return row;
  throw recordNotFound("Campaign", "id", id);
}

function toRecord({ id, name, category, state, per_hour, created_at, selection }: CampaignRow): Campaign {
  const { since, until, products, listed } = JSON.parse(selection) as Selection;
  return {
    id,
    name,
    category: category as Campaign["category"],
    state: state as CampaignState,
    emails_per_hour: per_hour,
    created_at: iso(created_at),
    since_date: since === undefined ? null : iso(since),
    until_date: until === undefined ? null : iso(until),
    product_ids: products ? [...products] : null,
    listed_orders: listed ?? null,
  };
}

async function readProgress(campaign: CampaignRow, context: HandlerContext): Promise<Progress> {
  const counts = await selectAccountRows("mails", campaign.account_id, context.transaction)
    .select(({ fn }) => [
      "state",
      sql<string | null>`case when state = 'not_sent' then reason end`.as("rule"),
      fn.countAll<number>().as("count"),
    ])
    .where("resends", "=", markOf(campaign.id))
    .where("resends", "<", 0)
    .groupBy(["state", sql`case when state = 'not_sent' then reason end`])
    .execute();
  const countOf = (state: string) =>
    counts.filter((row) => row.state === state).reduce((sum, { count }) => sum + count, 0);
  return {
    campaign: toRecord(campaign),
    emails: Object.fromEntries(emailStates.map((state) => [state, countOf(state)])) as Progress["emails"],
    not_sent: Object.fromEntries(counts.flatMap(({ rule, count }) => (rule === null ? [] : [[rule, count]]))),
  };
}

/** The first of the order IDs and addresses that are not found. */
const maxNotFound = 100;

interface Selected {
  readonly selection: Selection;
  /** The orders that are chosen one by one, in the order of their rows. */
  readonly orderRows: readonly number[] | undefined;
  readonly notFound: string[];
}

/** @throws ServiceError `invalidParams` if nothing is chosen */
async function readSelection(
  { since_date, until_date, product_ids, order_ids, emails }: Chosen,
  context: HandlerContext,
): Promise<Selected> {
  if (!since_date && !until_date && !product_ids && !order_ids && !emails) {
    const problem = "Missing since_date: choose orders by date, product, order ID, or customer";
    throw new ServiceError("invalidParams", problem, { field: "since_date" });
  }
  const filters = {
    ...(since_date !== undefined && { since: Date.parse(since_date) }),
    ...(until_date !== undefined && { until: Date.parse(until_date) }),
    ...(product_ids && { products: product_ids }),
  };
  if (!order_ids && !emails) return { selection: filters, orderRows: undefined, notFound: [] };
  const found = await findListedOrders({ order_ids, emails }, context);
  const orderRows = [...new Set(found.map(({ order_row }) => order_row))].toSorted((a, b) => a - b);
  const names = new Set(found.map(({ name }) => name));
  const missing = [
    ...(order_ids ?? []).filter((id) => !names.has(id)),
    ...(emails ?? []).filter((email) => !names.has(emailKeyOf(email))),
  ];
  return {
    selection: { ...filters, listed: orderRows.length },
    orderRows,
    notFound: [...new Set(missing)].slice(0, maxNotFound),
  };
}

/** Finds orders by their IDs and by the addresses of their customers. */
async function findListedOrders(
  { order_ids = [], emails = [] }: Pick<Chosen, "order_ids" | "emails">,
  context: HandlerContext,
): Promise<readonly { readonly order_row: number; readonly name: string }[]> {
  const { transaction, dialect } = context;
  const { id: accountId } = accountOf(context);
  const batchOf = (names: readonly string[]) =>
    batchRows<{ name: string }>(
      { name: "text" },
      names.map((name) => [name]),
      dialect,
    );
  const { rows } = await sql<{ order_row: number; name: string }>`
    select orders.id as order_row, batch.name from ${batchOf(order_ids)} cross join orders
    where orders.account_id = ${accountId} and orders.order_id = batch.name
    union all
    select order_emails.order_row, batch.name from ${batchOf([...new Set(emails.map(emailKeyOf))])} cross join order_emails
    where order_emails.account_id = ${accountId} and order_emails.email_key = batch.name`.execute(transaction);
  return rows;
}

async function insertOrders(campaignId: number, orderRows: readonly number[], context: HandlerContext): Promise<void> {
  const { transaction, dialect } = context;
  const rows = orderRows.map((row) => [row]);
  await sql`insert into campaign_orders (account_id, campaign_row, order_row)
    select cast(${accountOf(context).id} as bigint), cast(${campaignId} as bigint), batch.order_row
    from ${batchRows({ order_row: "integer" }, rows, dialect)}`.execute(transaction);
}

async function findLastOrder(context: HandlerContext): Promise<number> {
  const found = await selectAccountRows("purchases", accountOf(context).id, context.transaction)
    .select("order_row")
    .orderBy("order_row", "desc")
    .limit(1)
    .executeTakeFirst();
  return found?.order_row ?? 0;
}

const selectOwn = (campaignId: number, context: HandlerContext) =>
  updateAccountRows("mails", accountOf(context).id, context.transaction)
    .where("resends", "=", markOf(campaignId))
    .where("resends", "<", 0);

/** Holds the emails that no worker has started to send. @returns their number */
async function holdEmails(campaignId: number, context: HandlerContext): Promise<number> {
  const { nowMs } = context;
  const { numUpdatedRows } = await selectOwn(campaignId, context)
    .set({
      state: "queued",
      worker: null,
      leased_until: null,
      reason: stopped,
      held_at: nowMs,
      due_at: nowMs + emailSendingLimits.holdMs + 1,
    })
    .where((eb) => eb.or([eb("state", "=", "leased"), eb.and([eb("state", "=", "queued"), eb("worker", "is", null)])]))
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

const stopped = "campaign_stopped";

/** Makes held emails due again, at the rate of their campaign. @returns when the next one can be sent */
async function releaseEmails({ id, account_id, per_hour }: CampaignRow, context: HandlerContext): Promise<number> {
  const { transaction, dialect, nowMs } = context;
  const held = await selectAccountRows("mails", account_id, transaction)
    .select("id")
    .where("resends", "=", markOf(id))
    .where("resends", "<", 0)
    .where("state", "=", "queued")
    .where("reason", "=", stopped)
    .orderBy("due_at")
    .orderBy("id")
    .execute();
  const timeOf = (at: number) => nowMs + Math.ceil((at * hourMs) / per_hour);
  const rows = held.map((email, at) => [email.id, timeOf(at)]);
  const batch = batchRows({ id: "integer", due_at: "integer" }, rows, dialect);
  await sql`update mails set due_at = batch.due_at, held_at = null, reason = null from ${batch}
    where mails.account_id = ${account_id} and mails.id = batch.id
      and mails.id in (select id from ${batch})`.execute(transaction);
  return timeOf(held.length);
}
