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
  /** Assumed: `since_id` is the lowest id, as in other lists; without it, whoever looks wants the newest. */
  list: async ({ state, event_name, webhook_id, ...page }, context) => {
    let query = selectPage(context, page);
    if (state !== undefined) query = query.where("webhook_deliveries.state", "=", state);
    if (event_name !== undefined) query = query.where("webhook_deliveries.event_name", "=", event_name);
    if (webhook_id !== undefined) query = query.where("webhook_deliveries.webhook_row", "=", webhook_id);
    return { deliveries: (await query.execute()).map(toDelivery) };
  },

  /** @throws ServiceError `recordNotFound` */
  get: async ({ delivery_id }, context) => {
    const found = await findDelivery(delivery_id, context);
    const attempts = await context.transaction
      .selectFrom("webhook_attempts")
      .selectAll()
      .where("delivery_row", "=", delivery_id)
      .orderBy("id")
      .execute();
    return { delivery: { ...toDelivery(found), body: found.body }, attempts: attempts.map(toAttempt) };
  },

  /** Assumed: `since_id` as in the list of deliveries. */
  attempts: async ({ since_id, count }, context) => {
    let query = context.transaction
      .selectFrom("webhook_attempts")
      .selectAll()
      .where("account_id", "=", accountOf(context).id)
      .limit(readCount(count));
    query =
      since_id === undefined ? query.orderBy("id", "desc") : query.where("id", ">=", since_id).orderBy("id");
    const found = await query.execute();
    if (found.length === 0) return { attempts: [] };
    const deliveries = await selectDeliveries(context)
      .where("webhook_deliveries.id", "in", [...new Set(found.map(({ delivery_row }) => delivery_row))])
      .execute();
    const byId = new Map(deliveries.map((row) => [row.id, toDelivery(row)]));
    return {
      attempts: found.flatMap((row) => {
        const delivery = byId.get(row.delivery_row);
        return delivery ? [{ ...toAttempt(row), delivery }] : [];
      }),
    };
  },

  /**
   * Sends a delivery once more, at once, with the whole series of attempts before it.
   * Assumed: one that waits for its next attempt need wait no longer; one that is under way stays as it is; the event
   * id stays, so that a receiver that has had the event can tell.
   * @throws ServiceError `recordNotFound`; `invalidParams` where its subscription has ended
   */
  redeliver: async ({ delivery_id }, context) => {
    const found = await findDelivery(delivery_id, context);
    if (found.url === null) {
      throw new ServiceError("invalidParams", `the subscription of delivery ${delivery_id} has ended`, {
        hint: "subscribe the address again; new events go there",
      });
    }
    if (found.state !== "leased") {
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

/** The account's deliveries with where they go and how often they went. */
function selectDeliveries(context: Context) {
  return context.transaction
    .selectFrom("webhook_deliveries")
    .leftJoin("webhooks", "webhooks.id", "webhook_deliveries.webhook_row")
    .selectAll("webhook_deliveries")
    .select("webhooks.url")
    .select((eb) =>
      eb
        .selectFrom("webhook_attempts")
        .select(({ fn }) => fn.countAll<number>().as("made"))
        .whereRef("webhook_attempts.delivery_row", "=", "webhook_deliveries.id")
        .as("made"),
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

/** Assumed: more than a page can hold is a full page. */
function readCount(count: number = deliveryPage.default): number {
  return Math.min(count, deliveryPage.max);
}

async function findDelivery(id: number, context: Context) {
  const found = await selectDeliveries(context).where("webhook_deliveries.id", "=", id).executeTakeFirst();
  if (found) return found;
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
    attempts: Number(row.made),
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
