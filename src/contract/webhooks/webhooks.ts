import * as z from "zod";
import { endpoint, extensionPrefix, route } from "../endpoint.ts";
import { shape, timestamp } from "../shapes.ts";
import { lazily } from "../lazily.ts";
import { lazyObject } from "../lazy-object.ts";
import { deliveryStates } from "../emails/categories.ts";
import { idPaging, nameList, nextPage, timeRange } from "../lists/filters.ts";

/**
 * Source: spec "Events"; common practice for the others, which only webhooks receive that ask for them. An event of a change
 * of a review is sent in addition to `review_updated`. Events of emails do not exist, as in the specification.
 */
export const webhookEvents = [
  "review_create",
  "review_updated",
  "review_published",
  "review_hidden",
  "review_commented",
  "review_comment_edited",
  "review_comment_deleted",
  "question_asked",
  "question_answered",
  "unsubscribed",
] as const;
export type WebhookEvent = (typeof webhookEvents)[number];

/** Maximum number of webhooks per account. Assumed: the specification states no limit. */
export const maxWebhooks = 100;

/** Maximum number of deliveries that one call queues, of all its events to all webhooks. */
export const maxDeliveriesPerCall = 10_000;

/**
 * Maximum numbers of webhook requests in flight, each to a different webhook: of an account, and of a worker. An account
 * whose receivers do not respond uses up its own slots only.
 */
export const webhookSlots = { perAccount: 8, perWorker: 256 } as const;

/** How long a request to a receiver takes at most, and how much of its response is read and discarded. */
export const webhookRequestLimits = { ms: 15_000, responseBytes: 65_536 } as const;

export const webhookEventName = lazily(() =>
  z.enum(webhookEvents, {
    error: `must be one of ${webhookEvents.join(", ")}`,
  }),
);
const webhook = lazyObject(() => ({
  id: z.number().int(),
  url: z.string(),
  event_name: z.string(),
  created_at: timestamp(),
}));
/** How deliveries to the webhook have gone. */
const health = lazily(() => ({
  last_success_at: timestamp().nullable(),
  /** Failed attempts in the last 24 hours. */
  failures_24h: z.number().int(),
  /** When the next attempt is due; null if no delivery is queued. */
  next_attempt_at: timestamp().nullable(),
}));
/** Services without health omit it. */
const optionalHealth = { last_success_at: true, failures_24h: true, next_attempt_at: true } as const;
const path = `${extensionPrefix}/apps/{app_key}/webhooks`;
export const webhooks = {
  create: endpoint({
    summary: "Create a webhook",
    returnsSecret: true,
    ...route("POST", path),
    effect: "repeatable",
    input: () => ({ url: shape.url, event_name: webhookEventName() }),
    /** `secret` signs the deliveries. Only this call returns it. */
    output: () => ({ webhook: webhook().extend({ secret: z.string() }) }),
  }),
  list: endpoint({
    summary: "List webhooks",
    listing: { items: "webhooks" },
    ...route("GET", path),
    effect: "read",
    output: () => ({ webhooks: z.array(webhook().extend(health()).partial(optionalHealth)) }),
  }),
  trigger: endpoint({
    summary: "Send a sample event to the webhooks that receive such events, marked as a test",
    ...route("POST", `${path}/trigger`),
    effect: "once",
    input: () => ({ event_name: webhookEventName() }),
    /** One per webhook. The body has `"test": true`, and data that is not stored. */
    output: () => ({
      deliveries: z.array(
        z.object({ id: z.number().int(), webhook_id: z.number().int(), url: z.string(), event_id: z.string() }),
      ),
    }),
  }),
  delete: endpoint({
    summary: "Delete a webhook",
    destroys: { question: "Delete webhook {webhook_id}" },
    ...route("DELETE", `${path}/{webhook_id}`),
    effect: "repeatable",
    input: () => ({ webhook_id: shape.rowId }),
  }),
};

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

export const webhookDeliveries = {
  list: endpoint({
    summary: "List webhook deliveries, newest first (oldest first with `since_id`)",
    listing: {
      items: "deliveries",
      by: "page_info",
      size: { field: "count", max: deliveryPage.max },
    },
    ...route("GET", `${prefix}/webhook_deliveries`),
    effect: "read",
    input: () => ({
      /** Comma-separated list of states. */
      state: nameList(deliveryStates).optional(),
      event_name: webhookEventName().optional(),
      webhook_id: shape.rowId.optional(),
      ...timeRange(),
      ...idPaging(),
    }),
    output: () => ({ deliveries: z.array(webhookDelivery()), pagination: nextPage() }),
  }),
  get: endpoint({
    summary: "Show a webhook delivery with its attempts",
    ...route("GET", `${prefix}/webhook_deliveries/{delivery_id}`),
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
      by: "page_info",
      size: { field: "count", max: deliveryPage.max },
    },
    ...route("GET", `${prefix}/webhook_attempts`),
    effect: "read",
    input: () => idPaging(),
    output: () => ({
      /** Each with the current state of its delivery. */
      attempts: z.array(webhookAttempt().extend({ delivery: webhookDelivery() })),
      pagination: nextPage(),
    }),
  }),
  redeliver: endpoint({
    summary: "Redeliver an event with the same event ID",
    ...route("POST", `${prefix}/webhook_deliveries/{delivery_id}/redeliver`),
    effect: "once",
    roles: ["support"],
    input: () => ({ delivery_id: shape.rowId }),
    output: () => ({ delivery: webhookDelivery() }),
  }),
};
