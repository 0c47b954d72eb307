import { sql } from "kysely";
import { type contract, deliveryPage, recordNotFound } from "../../contract/index.ts";
import { sameAccount, selectAccountRows } from "../kernel/account-rows.ts";
import { accountOf, type HandlerContext, type Handler } from "../kernel/handler.ts";

type Query = Parameters<Handler<typeof contract.webhookDeliveries.list>>[0];
export type DeliveryRow = Awaited<ReturnType<typeof findDelivery>>;

type Context = Pick<HandlerContext, "transaction" | "account">;

/** Selects the deliveries of the account with their URLs and numbers of attempts. */
export function selectDeliveries(context: Context) {
  const { id: accountId } = accountOf(context as HandlerContext);
  return selectAccountRows("webhook_deliveries", accountId, context.transaction)
    .leftJoin("webhooks", sameAccount("webhooks.id", "webhook_deliveries.webhook_row"))
    .selectAll("webhook_deliveries")
    .select("webhooks.url")
    .select((eb) =>
      eb
        .selectFrom("webhook_attempts")
        .select(({ fn }) => fn.countAll<number>().as("attempt_count"))
        .where("webhook_attempts.account_id", "=", accountId)
        .whereRef("webhook_attempts.delivery_row", "=", "webhook_deliveries.id")
        .as("attempt_count"),
    );
}

/**
 * Lists deliveries. Reads one page per state in index order and merges them, except with a range of creation times, which
 * an index of all states sorts. With `since_id`, pages follow the ID.
 */
export async function listDeliveries(query: Query, context: HandlerContext): Promise<readonly DeliveryRow[]> {
  const { state, since_id, since_date, until_date } = query;
  const isByTime = since_id === undefined && (since_date !== undefined || until_date !== undefined);
  const order = { key: isByTime ? "created_at" : "id", direction: since_id === undefined ? "desc" : "asc" } as const;
  const rows: DeliveryRow[] = [];
  for (const states of isByTime || state === undefined ? [state] : state.map((one) => [one])) {
    rows.push(...(await selectPage({ ...query, state: states }, order, context).execute()));
  }
  const sign = order.direction === "asc" ? 1 : -1;
  return rows.toSorted((a, b) => sign * (a[order.key] - b[order.key] || a.id - b.id)).slice(0, readCount(query.count));
}

interface Order {
  readonly key: "id" | "created_at";
  readonly direction: "asc" | "desc";
}

function selectPage(query: Query, { key, direction }: Order, context: HandlerContext) {
  const { state = [], event_name, webhook_id, since_id, since_date, until_date } = query;
  const createdAt = "webhook_deliveries.created_at";
  const stateColumn = sql.ref<string>("webhook_deliveries.state");
  const isByTime = key === "created_at";
  return selectDeliveries(context)
    .$if(state.length > 0, (page) =>
      page.where(isByTime ? context.dialect.withoutIndex(stateColumn) : stateColumn, "in", state),
    )
    .$if(event_name !== undefined, (page) => page.where("webhook_deliveries.event_name", "=", event_name ?? ""))
    .$if(webhook_id !== undefined, (page) => page.where("webhook_deliveries.webhook_row", "=", webhook_id ?? 0))
    .$if(since_id !== undefined, (page) => page.where("webhook_deliveries.id", ">=", since_id ?? 0))
    .$if(since_date !== undefined, (page) => page.where(createdAt, ">=", Date.parse(since_date ?? "")))
    .$if(until_date !== undefined, (page) => page.where(createdAt, "<", Date.parse(until_date ?? "")))
    .$if(isByTime, (page) => page.orderBy(createdAt, direction))
    .orderBy("webhook_deliveries.id", direction)
    .limit(readCount(query.count));
}

/** Assumed: a count above the maximum page size is reduced to it. */
export function readCount(count: number = deliveryPage.default): number {
  return Math.min(count, deliveryPage.max);
}

/** @throws ServiceError `recordNotFound` */
export async function findDelivery(id: number, context: Context) {
  const delivery = await selectDeliveries(context).where("webhook_deliveries.id", "=", id).executeTakeFirst();
  if (delivery) return delivery;
  throw recordNotFound("Delivery", "id", id);
}
