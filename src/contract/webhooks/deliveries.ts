import * as z from "zod";
import { endpoint, extensionPrefix, ownOperation, route } from "../endpoint.ts";
import { deliveryStates } from "../emails/categories.ts";
import { nameList, timeRange } from "../lists/filters.ts";
import { shape, timestamp } from "../shapes.ts";
import { webhookEventName } from "./webhooks.ts";
import { lazily } from "../lazily.ts";
import { lazyObject } from "../lazy-object.ts";

/** Page size of delivery and attempt lists. Assumed: same as other lists of an account. */
export const deliveryPage = { default: 20, max: 1_000 } as const;

const state = lazily(() => z.enum(deliveryStates, { error: `must be one of ${deliveryStates.join(", ")}` }));

/** Delivery of an event to a webhook. */
export const webhookDelivery = lazyObject(() => ({
  id: z.number().int(),
  webhook_id: z.number().int(),
  /** Null if the webhook was deleted. */
  url: z.string().nullable(),
  /** Value of the `webhook-id` header: the same for all webhooks and attempts. */
  event_id: z.string(),
  event_name: z.string(),
  state: state(),
  created_at: timestamp(),
  /** When the next attempt is due; null if no attempt will follow. */
  due_at: timestamp().nullable(),
  delivered_at: timestamp().nullable(),
  /** Why the last attempt failed, or why there are no more attempts. */
  reason: z.string().nullable(),
  /** Number of attempts so far. */
  attempts: z.number().int(),
}));
export type WebhookDelivery = z.output<ReturnType<typeof webhookDelivery>>;

/** One HTTP request to a receiver. */
export const webhookAttempt = lazyObject(() => ({
  id: z.number().int(),
  delivery_id: z.number().int(),
  worker: z.string(),
  started_at: timestamp(),
  /** Null while the request is in flight, or if its worker was lost. */
  duration_ms: z.number().int().nullable(),
  /** HTTP status. Null if there was no response. */
  status: z.number().int().nullable(),
  /** Why it failed. Null if it did not. */
  problem: z.string().nullable(),
}));
export type WebhookAttempt = z.output<ReturnType<typeof webhookAttempt>>;

const prefix = `${extensionPrefix}/apps/{app_key}`;
const page = lazily(() => ({ since_id: shape.rowId.optional(), count: shape.count.optional() }));

export const webhookDeliveries = {
  list: endpoint({
    summary: "List webhook deliveries, newest first (oldest first with `since_id`)",
    listing: {
      items: "deliveries",
      by: "since_id",
      isNewestFirst: true,
      size: { field: "count", max: deliveryPage.max },
    },
    ...route("GET", `${prefix}/webhook_deliveries`),
    ...ownOperation,
    effect: "read",
    input: () => ({
      /** Comma-separated list of states. */
      state: nameList(deliveryStates).optional(),
      event_name: webhookEventName().optional(),
      webhook_id: shape.rowId.optional(),
      ...timeRange(),
      ...page(),
    }),
    output: () => ({ deliveries: z.array(webhookDelivery()) }),
  }),
  get: endpoint({
    summary: "Show a webhook delivery with its attempts",
    ...route("GET", `${prefix}/webhook_deliveries/{delivery_id}`),
    ...ownOperation,
    effect: "read",
    input: () => ({ delivery_id: shape.rowId }),
    output: () => ({
      /** `body` is the request body. */
      delivery: webhookDelivery().extend({ body: z.string() }),
      attempts: z.array(webhookAttempt()),
    }),
  }),
  attempts: endpoint({
    summary: "List webhook delivery attempts, newest first (oldest first with `since_id`)",
    listing: {
      items: "attempts",
      by: "since_id",
      isNewestFirst: true,
      size: { field: "count", max: deliveryPage.max },
    },
    ...route("GET", `${prefix}/webhook_attempts`),
    ...ownOperation,
    effect: "read",
    input: () => z.object(page()),
    output: () => ({
      /** Each with the current state of its delivery. */
      attempts: z.array(webhookAttempt().extend({ delivery: webhookDelivery() })),
    }),
  }),
  redeliver: endpoint({
    summary: "Redeliver an event with the same event ID",
    ...route("POST", `${prefix}/webhook_deliveries/{delivery_id}/redeliver`),
    ...ownOperation,
    effect: "once",
    input: () => ({ delivery_id: shape.rowId }),
    output: () => ({ delivery: webhookDelivery() }),
  }),
};
