import {
  type contract,
  type DeliveryState,
  deliveryPage,
  ServiceError,
  type WebhookAttempt,
  type WebhookDelivery,
  recordNotFound,
} from "../../contract/index.ts";
import type { Row } from "../../storage/tables.ts";
import { accountOf, type HandlerContext, type Handlers } from "../kernel/handler.ts";
import { iso } from "../kernel/times.ts";

export const webhookDeliveryHandlers: Handlers<typeof contract.webhookDeliveries> = {
  /** Assumed: `since_id` is the lowest ID, as in other lists; without it, the newest come first. */
  list: async ({ state, event_name, webhook_id, ...page }, context) => {
    let query = selectPage(context, page);
    if (state !== undefined) query = query.where("webhook_deliveries.state", "=", state);
    if (event_name !== undefined) query = query.where("webhook_deliveries.event_name", "=", event_name);
    if (webhook_id !== undefined) query = query.where("webhook_deliveries.webhook_row", "=", webhook_id);
    return { deliveries: (await query.execute()).map(toDelivery) };
  },

  /** @throws ServiceError `recordNotFound` */
  get: async ({ delivery_id }, context) => {
    const delivery = await findDelivery(delivery_id, context);
    const attempts = await context.transaction
      .selectFrom("webhook_attempts")
      .selectAll()
      .where("delivery_row", "=", delivery_id)
      .orderBy("id")
      .execute();
    return { delivery: { ...toDelivery(delivery), body: delivery.body }, attempts: attempts.map(toAttempt) };
  },

  /** Assumed: `since_id` works as in the list of deliveries. */
  attempts: async ({ since_id, count }, context) => {
    let query = context.transaction
      .selectFrom("webhook_attempts")
      .selectAll()
      .where("account_id", "=", accountOf(context).id)
      .limit(readCount(count));
    query = since_id === undefined ? query.orderBy("id", "desc") : query.where("id", ">=", since_id).orderBy("id");
    const rows = await query.execute();
    if (rows.length === 0) return { attempts: [] };
    const deliveries = await selectDeliveries(context)
      .where("webhook_deliveries.id", "in", [...new Set(rows.map(({ delivery_row }) => delivery_row))])
      .execute();
    const byId = new Map(deliveries.map((row) => [row.id, toDelivery(row)]));
    return {
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
      await context.transaction
        .updateTable("webhook_deliveries")
        .set({ state: "queued", due_at: context.nowMs, delivered_at: null, reason: null, attempts: 0 })
        .where("id", "=", delivery_id)
        .execute();
    }
    return { delivery: toDelivery(await findDelivery(delivery_id, context)) };
  },
};

type Context = Pick<HandlerContext, "transaction" | "account">;

/** Selects the deliveries of the account with their URLs and numbers of attempts. */
function selectDeliveries(context: Context) {
  return context.transaction
    .selectFrom("webhook_deliveries")
    .leftJoin("webhooks", "webhooks.id", "webhook_deliveries.webhook_row")
    .selectAll("webhook_deliveries")
    .select("webhooks.url")
    .select((eb) =>
      eb
        .selectFrom("webhook_attempts")
        .select(({ fn }) => fn.countAll<number>().as("attempt_count"))
        .whereRef("webhook_attempts.delivery_row", "=", "webhook_deliveries.id")
        .as("attempt_count"),
    )
    .where("webhook_deliveries.account_id", "=", accountOf(context as HandlerContext).id);
}

function selectPage(
  context: Context,
  { since_id, count }: { readonly since_id?: number | undefined; readonly count?: number | undefined },
) {
  const page = selectDeliveries(context).limit(readCount(count));
  if (since_id === undefined) return page.orderBy("webhook_deliveries.id", "desc");
  return page.where("webhook_deliveries.id", ">=", since_id).orderBy("webhook_deliveries.id");
}

/** Assumed: a count above the maximum page size is reduced to it. */
function readCount(count: number = deliveryPage.default): number {
  return Math.min(count, deliveryPage.max);
}

async function findDelivery(id: number, context: Context) {
  const delivery = await selectDeliveries(context).where("webhook_deliveries.id", "=", id).executeTakeFirst();
  if (delivery) return delivery;
  throw recordNotFound("Delivery", "id", id);
}

type DeliveryRow = Awaited<ReturnType<typeof findDelivery>>;

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
  return {
    id: row.id,
    delivery_id: row.delivery_row,
    worker: row.worker,
    started_at: iso(row.started_at),
    duration_ms: row.duration_ms,
    status: row.status,
    problem: row.problem,
  };
}
