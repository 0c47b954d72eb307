import * as z from "zod";
import { endpoint, extensionPrefix } from "../endpoint.ts";
import { enveloped, statusOnly } from "../reply.ts";
import { shape, timestamp } from "../shapes.ts";
import { lazily } from "../lazily.ts";

/** Source: spec "Events"; common practice for `review_updated`. */
export const webhookEvents = ["review_create", "review_updated"] as const;
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
const webhook = lazily(() =>
  z.object({
    id: z.number().int(),
    url: z.string(),
    event_name: z.string(),
    created_at: timestamp(),
  }),
);
const path = `${extensionPrefix}/apps/{app_key}/webhooks`;
const own = { extension: "own", auth: "utoken" } as const;

export const webhooks = {
  create: endpoint({
    summary: "Create a webhook",
    returnsSecret: true,
    method: "POST",
    paths: [path],
    ...own,
    effect: "repeatable",
    input: () => z.object({ url: shape.url, event_name: webhookEventName() }),
    /** `secret` signs the deliveries. Only this call returns it. */
    output: () => z.object({ webhook: webhook().extend({ secret: z.string() }) }),
    reply: enveloped,
  }),
  list: endpoint({
    summary: "List webhooks",
    listing: { items: "webhooks" },
    method: "GET",
    paths: [path],
    ...own,
    effect: "read",
    input: () => z.object({}),
    output: () => z.object({ webhooks: z.array(webhook()) }),
    reply: enveloped,
  }),
  delete: endpoint({
    summary: "Delete a webhook",
    destroys: { question: "Delete webhook {webhook_id}" },
    method: "DELETE",
    paths: [`${path}/{webhook_id}`],
    ...own,
    effect: "repeatable",
    input: () => z.object({ webhook_id: shape.rowId }),
    output: () => z.object({}),
    reply: statusOnly,
  }),
};
