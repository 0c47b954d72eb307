import {
  type contract,
  type DeliveryState,
  ServiceError,
  type WebhookAttempt,
  type WebhookDelivery,
} from "../../contract/index.ts";
import type { Row } from "../../storage/tables.ts";
import { selectAccountRows, updateAccountRows } from "../kernel/account-rows.ts";
import { accountOf, type Handlers } from "../kernel/handler.ts";
import { iso } from "../kernel/times.ts";
import { type DeliveryRow, findDelivery, listDeliveries, readCount, selectDeliveries } from "./delivery-list.ts";

export const webhookDeliveryHandlers: Handlers<typeof contract.webhookDeliveries> = {
  /** Assumed: `since_id` is the lowest ID, as in other lists; without it, the newest come first. */
  list: async (query, context) => ({ deliveries: (await listDeliveries(query, context)).map(toDelivery) }),

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
  attempts: async ({ since_id, count }, context) => {
    let query = selectAccountRows("webhook_attempts", accountOf(context).id, context.transaction)
      .selectAll()
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
      await updateAccountRows("webhook_deliveries", accountOf(context).id, context.transaction)
        .set({ state: "queued", due_at: context.nowMs, delivered_at: null, reason: null, attempts: 0 })
        .where("id", "=", delivery_id)
        .execute();
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
