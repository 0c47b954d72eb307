import {
  type contract,
  deliveryPage,
  type DeliveryState,
  recordNotFound,
  ServiceError,
  type WebhookAttempt,
  type WebhookDelivery,
} from "../../contract/index.ts";
import type { Row } from "../../storage/tables.ts";
import { sameAccount, selectAccountRows, updateAccountRows } from "../kernel/account-rows.ts";
import { noteDue } from "../kernel/due-times.ts";
import { accountOf, type Handler, type HandlerContext, type Handlers } from "../kernel/handler.ts";
import { isAfter, orderById, readCursor, toPage } from "../kernel/lists/cursor.ts";
import { iso } from "../kernel/times.ts";
import { sql } from "kysely";

export const webhookDeliveryHandlers: Handlers<typeof contract.webhookDeliveries> = {
  /** Assumed: `since_id` is the lowest ID, as in other lists; without it, the newest come first. */
  list: async (query, context) => {
    const { rows, pagination } = await listDeliveries(query, context);
    return { deliveries: rows.map(toDelivery), pagination };
  },

  /** @throws ServiceError `recordNotFound` */
  get: async ({ delivery_id }, context) => {
    const delivery = await findDelivery(delivery_id, context);
    const attempts = await selectAccountRows("webhook_attempts", accountOf(context).id, context.transaction)
      .selectAll()
      .where("delivery_row", "=", delivery_id)
      .orderBy("id")
      .execute();
    return { delivery: { ...toDelivery(delivery), body: delivery.body }, attempts: attempts.map(toAttempt) };
  },

  /** Assumed: `since_id` works as in the list of deliveries. */
  attempts: async ({ since_id, count, page_info }, context) => {
    const size = readCount(count);
    const { direction, isNext } = orderById({ since_id, page_info });
    const found = await selectAccountRows("webhook_attempts", accountOf(context).id, context.transaction)
      .selectAll()
      .where(isNext)
      .orderBy("id", direction)
      .limit(size + 1)
      .execute();
    const { rows, pagination } = toPage(found, size, ({ id }) => [id]);
    if (rows.length === 0) return { attempts: [], pagination };
    const deliveries = await selectDeliveries(context)
      .where("webhook_deliveries.id", "in", [...new Set(rows.map(({ delivery_row }) => delivery_row))])
      .execute();
    const byId = new Map(deliveries.map((row) => [row.id, toDelivery(row)]));
    return {
      pagination,
      attempts: rows.flatMap((row) => {
        const delivery = byId.get(row.delivery_row);
        return delivery ? [{ ...toAttempt(row), delivery }] : [];
      }),
    };
  },

  /**
   * Queues a delivery again, due immediately and with a new series of attempts.
   * Assumed: a queued delivery becomes due immediately; a delivery in flight is not changed; the event ID stays the same,
   * so that receivers can detect the repeat.
   * @throws ServiceError `recordNotFound`; `invalidParams` if the webhook was deleted
   */
  redeliver: async ({ delivery_id }, context) => {
    const delivery = await findDelivery(delivery_id, context);
    if (delivery.url === null) {
      throw new ServiceError("invalidParams", `the webhook of delivery ${delivery_id} was deleted`, {
        field: "delivery_id",
        hint: "Create the webhook again to receive new events.",
      });
    }
    if (delivery.state !== "leased") {
      await updateAccountRows("webhook_deliveries", accountOf(context).id, context.transaction)
        .set({ state: "queued", due_at: context.nowMs, delivered_at: null, reason: null, attempts: 0 })
        .where("id", "=", delivery_id)
        .execute();
      await noteDue("deliveries_due_at", accountOf(context).id, context);
    }
    return { delivery: toDelivery(await findDelivery(delivery_id, context)) };
  },
};

function toDelivery(row: DeliveryRow): WebhookDelivery {
  return {
    id: row.id,
    webhook_id: row.webhook_row,
    url: row.url,
    event_id: row.event_id,
    event_name: row.event_name,
    state: row.state as DeliveryState,
    created_at: iso(row.created_at),
    due_at: row.state === "queued" ? iso(row.due_at) : null,
    delivered_at: row.delivered_at === null ? null : iso(row.delivered_at),
    reason: row.reason,
    attempts: Number(row.attempt_count),
  };
}

function toAttempt(row: Row<"webhook_attempts">): WebhookAttempt {
  const { id, delivery_row: delivery_id, worker, started_at, duration_ms, status, problem } = row;
  return { id, delivery_id, worker, started_at: iso(started_at), duration_ms, status, problem };
}

type Query = Parameters<Handler<typeof contract.webhookDeliveries.list>>[0];
type DeliveryRow = Awaited<ReturnType<typeof findDelivery>>;

type Context = Pick<HandlerContext, "transaction" | "account">;

/** Selects the deliveries of the account with their URLs and numbers of attempts. */
function selectDeliveries(context: Context) {
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
async function listDeliveries(query: Query, context: HandlerContext) {
  const { state, since_id, since_date, until_date } = query;
  const isByTime = since_id === undefined && (since_date !== undefined || until_date !== undefined);
  const order = { key: isByTime ? "created_at" : "id", direction: since_id === undefined ? "desc" : "asc" } as const;
  const rows: DeliveryRow[] = [];
  for (const states of isByTime || state === undefined ? [state] : state.map((one) => [one])) {
    rows.push(...(await selectPage({ ...query, state: states }, order, context).execute()));
  }
  const sign = order.direction === "asc" ? 1 : -1;
  const sorted = rows.toSorted((a, b) => sign * (a[order.key] - b[order.key] || a.id - b.id));
  return toPage(sorted, readCount(query.count), (row) => [row[order.key], row.id]);
}

interface Order {
  readonly key: "id" | "created_at";
  readonly direction: "asc" | "desc";
}

function selectPage(query: Query, { key, direction }: Order, context: HandlerContext) {
  const { state = [], event_name, webhook_id, since_id, since_date, until_date, page_info } = query;
  const after = page_info === undefined ? undefined : readCursor(page_info, 2);
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
    .$if(after !== undefined, (page) =>
      page.where(
        isAfter([sql.ref(`webhook_deliveries.${key}`), sql.ref("webhook_deliveries.id")], after ?? [], direction),
      ),
    )
    .$if(isByTime, (page) => page.orderBy(createdAt, direction))
    .orderBy("webhook_deliveries.id", direction)
    .limit(readCount(query.count) + 1);
}

/** Assumed: a count above the maximum page size is reduced to it. */
function readCount(count: number = deliveryPage.default): number {
  return Math.min(count, deliveryPage.max);
}

/** @throws ServiceError `recordNotFound` */
async function findDelivery(id: number, context: Context) {
  const delivery = await selectDeliveries(context).where("webhook_deliveries.id", "=", id).executeTakeFirst();
  if (delivery) return delivery;
  throw recordNotFound("Delivery", "id", id);
}
