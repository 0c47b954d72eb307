import * as z from "zod";
import { endpoint, extensionPrefix } from "../endpoint.ts";
import { deliveryStates } from "../emails/categories.ts";
import { enveloped } from "../reply.ts";
import { shape, timestamp } from "../shapes.ts";
import { webhookEventName } from "./webhooks.ts";
import { lazily } from "../lazily.ts";

/** Deliveries, and attempts, of a page. Assumed: as other lists of an account. */
export const deliveryPage = { default: 20, max: 1_000 } as const;

const state = lazily(() => z.enum(deliveryStates, { error: `must be one of ${deliveryStates.join(", ")}` }));

/** An event on its way to a subscription. */
export const webhookDelivery = lazily(() =>
  z.object({
    id: z.number().int(),
    webhook_id: z.number().int(),
    /** Where to; nothing once the subscription has ended. */
    url: z.string().nullable(),
    /** `webhook-id` of the delivery: the same for all subscriptions that are told of the event, and in each attempt. */
    event_id: z.string(),
    event_name: z.string(),
    state: state(),
    created_at: timestamp(),
    /** When the next attempt is due; nothing where there is none. */
    due_at: timestamp().nullable(),
    delivered_at: timestamp().nullable(),
    /** What the last attempt came to, where it failed, or why there are no more. */
    reason: z.string().nullable(),
    /** How often it was sent, or tried to. */
    attempts: z.number().int(),
  }),
);
export type WebhookDelivery = z.output<ReturnType<typeof webhookDelivery>>;

/** One request to a receiver. */
export const webhookAttempt = lazily(() =>
  z.object({
    id: z.number().int(),
    delivery_id: z.number().int(),
    worker: z.string(),
    started_at: timestamp(),
    /** Nothing while it is under way, or where its worker was lost. */
    duration_ms: z.number().int().nullable(),
    /** Of HTTP; nothing where there was no answer. */
    status: z.number().int().nullable(),
    /** Why it failed; nothing where it did not. */
    problem: z.string().nullable(),
  }),
);
export type WebhookAttempt = z.output<ReturnType<typeof webhookAttempt>>;

const prefix = `${extensionPrefix}/apps/{app_key}`;
const own = { extension: "own", auth: "utoken", reply: enveloped } as const;
const page = lazily(() => ({ since_id: shape.rowId.optional(), count: shape.count.optional() }));

/** The log of what webhooks were sent. */
export const webhookDeliveries = {
  list: endpoint({
    summary: "List the deliveries of webhooks: the newest first, or with `since_id` the oldest first",
    listing: {
      items: "deliveries",
      by: "since_id",
      isNewestFirst: true,
      size: { field: "count", max: deliveryPage.max },
    },
    method: "GET",
    paths: [`${prefix}/webhook_deliveries`],
    ...own,
    effect: "read",
    input: () =>
      z.object({
        state: state().optional(),
        event_name: webhookEventName().optional(),
        webhook_id: shape.rowId.optional(),
        ...page(),
      }),
    output: () => z.object({ deliveries: z.array(webhookDelivery()) }),
  }),
  get: endpoint({
    summary: "Tell what a delivery holds, and each of its attempts",
    method: "GET",
    paths: [`${prefix}/webhook_deliveries/{delivery_id}`],
    ...own,
    effect: "read",
    input: () => z.object({ delivery_id: shape.rowId }),
    output: () =>
      z.object({
        /** `body` is what is sent, byte for byte. */
        delivery: webhookDelivery().extend({ body: z.string() }),
        attempts: z.array(webhookAttempt()),
      }),
  }),
  attempts: endpoint({
    summary: "List the attempts of all deliveries: the newest first, or with `since_id` the oldest first",
    listing: {
      items: "attempts",
      by: "since_id",
      isNewestFirst: true,
      size: { field: "count", max: deliveryPage.max },
    },
    method: "GET",
    paths: [`${prefix}/webhook_attempts`],
    ...own,
    effect: "read",
    input: () => z.object(page()),
    output: () =>
      z.object({
        /** Each with its delivery as that is now. */
        attempts: z.array(webhookAttempt().extend({ delivery: webhookDelivery() })),
      }),
  }),
  redeliver: endpoint({
    summary: "Send a delivery once more, under the same event id",
    method: "POST",
    paths: [`${prefix}/webhook_deliveries/{delivery_id}/redeliver`],
    ...own,
    effect: "once",
    input: () => z.object({ delivery_id: shape.rowId }),
    output: () => z.object({ delivery: webhookDelivery() }),
  }),
};
