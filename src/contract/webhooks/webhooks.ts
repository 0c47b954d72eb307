import * as z from "zod";
import { endpoint, extensionPrefix, ownOperation, route } from "../endpoint.ts";
import { statusOnly } from "../reply.ts";
import { shape, timestamp } from "../shapes.ts";
import { lazily } from "../lazily.ts";
import { lazyObject } from "../lazy-object.ts";

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

/**
 * Maximum numbers of webhook requests in flight, each to a different webhook: of an account, and of a worker. An account
 * whose receivers do not respond uses up its own slots only.
 */
export const webhookSlots = { perAccount: 8, perWorker: 256 } as const;

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
    ...ownOperation,
    effect: "repeatable",
    input: () => ({ url: shape.url, event_name: webhookEventName() }),
    /** `secret` signs the deliveries. Only this call returns it. */
    output: () => ({ webhook: webhook().extend({ secret: z.string() }) }),
  }),
  list: endpoint({
    summary: "List webhooks",
    listing: { items: "webhooks" },
    ...route("GET", path),
    ...ownOperation,
    effect: "read",
    input: () => ({}),
    output: () => ({ webhooks: z.array(webhook().extend(health()).partial(optionalHealth)) }),
  }),
  trigger: endpoint({
    summary: "Send a sample event to the webhooks that receive such events, marked as a test",
    ...route("POST", `${path}/trigger`),
    ...ownOperation,
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
    ...ownOperation,
    effect: "repeatable",
    input: () => ({ webhook_id: shape.rowId }),
    output: () => ({}),
    reply: statusOnly,
  }),
};
