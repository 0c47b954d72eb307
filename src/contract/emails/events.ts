import * as z from "zod";
import { endpoint, extensionPrefix } from "../endpoint.ts";
import { enveloped } from "../reply.ts";
import { shape } from "../shapes.ts";
import { lazily } from "../lazily.ts";

/** Events that one call takes. Assumed: several times what a provider puts into one. */
export const maxProviderEvents = 5_000;

/**
 * How long a signature with the account's secret holds, before and after its time.
 * Source: Standard Webhooks. Assumed: five minutes, as its libraries have it.
 */
export const signatureToleranceMs = 5 * 60 * 1_000;

const text = lazily(() => z.string().optional());

/**
 * An event of the mail provider. What else it holds is passed over.
 * Source: practice of mail providers: the form of SendGrid's event webhook, which others have as well.
 */
export const providerEvent = lazily(() =>
  z.looseObject({
    event: z.string(),
    email: text(),
    /** Unix seconds. */
    timestamp: z.union([z.number(), z.string().regex(/^\d{1,12}$/)]).optional(),
    /** The mail's Message-ID. */
    "smtp-id": text(),
    /** The provider's own names of the event, by which it is known again, and of the mail. */
    sg_event_id: text(),
    sg_message_id: text(),
    /** Of `bounce`: `bounce`, or `blocked` where the mail was refused for now. */
    type: text(),
    reason: text(),
    response: text(),
    status: text(),
    url: text(),
  }),
);
export type ProviderEvent = z.output<ReturnType<typeof providerEvent>>;

const path = `${extensionPrefix}/apps/{app_key}/mail_events`;
const count = lazily(() => z.number().int());

export const emailEvents = {
  receive: endpoint({
    summary: "Take what the mail provider tells of mails, in its common JSON form, signed",
    method: "POST",
    paths: [path],
    extension: "own",
    auth: "account",
    effect: "repeatable",
    signedBody: {
      field: "body",
      headers: {
        webhook_id: "webhook-id",
        webhook_timestamp: "webhook-timestamp",
        webhook_signature: "webhook-signature",
        provider_timestamp: "x-twilio-email-event-webhook-timestamp",
        provider_signature: "x-twilio-email-event-webhook-signature",
      },
      get holds() {
        return z.array(providerEvent()).max(maxProviderEvents);
      },
    },
    input: () =>
      z.object({
        body: z.string(),
        webhook_id: text(),
        webhook_timestamp: text(),
        webhook_signature: text(),
        provider_timestamp: text(),
        provider_signature: text(),
      }),
    output: () =>
      z.object({
        /** Stored now, and counted where they are of a kind that is. */
        accepted: count(),
        /** Stored before. */
        repeated: count(),
        /** Of mails that are none of the account's. */
        unknown: count(),
        /** Of kinds that mean nothing here. */
        ignored: count(),
      }),
    reply: enveloped,
  }),
  setUp: endpoint({
    summary: "Tell, and where asked change, how the mail provider signs its events",
    method: "POST",
    paths: [`${path}/set_up`],
    extension: "own",
    auth: "utoken",
    effect: "once",
    returnsSecret: true,
    input: () =>
      z.object({
        /** Makes a new secret; what is signed with the former one is refused from then on. */
        rotate: shape.boolean.optional(),
        /** The provider's own key (P-256, SPKI in base64, or PEM), where it signs with one; empty takes it away. */
        public_key: z.string().max(2_048).optional(),
      }),
    output: () =>
      z.object({
        /** Where events are to be sent. */
        url: z.string(),
        secret: z.string(),
        public_key: z.string().nullable(),
      }),
    reply: enveloped,
  }),
};
