import * as z from "zod";
import { endpoint, extensionPrefix, route } from "../endpoint.ts";
import { shape } from "../shapes.ts";
import { lazily } from "../lazily.ts";

/** Maximum number of events per call. Assumed: several times the batch size of providers. */
export const maxProviderEvents = 5_000;

/**
 * Maximum difference between the timestamp of a signature and the current time, for signatures with the account's secret.
 * Source: Standard Webhooks. Assumed: five minutes, as in its libraries.
 */
export const signatureToleranceMs = 5 * 60 * 1_000;

const text = lazily(() => z.string().optional());

/**
 * An event from the email provider. Other fields are ignored.
 * Source: common practice: the format of SendGrid's event webhook, which other providers also support.
 */
export const providerEvent = lazily(() =>
  z.looseObject({
    event: z.string(),
    email: text(),
    /** Unix seconds. */
    timestamp: z.union([z.number(), z.string().regex(/^\d{1,12}$/)]).optional(),
    /** Message-ID of the email. */
    "smtp-id": text(),
    /** IDs assigned by the provider: of the event, used to detect repeats, and of the email. */
    sg_event_id: text(),
    sg_message_id: text(),
    /** For `bounce` events: `bounce`, or `blocked` if the rejection is temporary. */
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
    summary: "Receive signed events from the email provider",
    ...route("POST", path),
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
      get schema() {
        return z.array(providerEvent()).max(maxProviderEvents);
      },
    },
    input: () => ({
      body: z.string(),
      webhook_id: text(),
      webhook_timestamp: text(),
      webhook_signature: text(),
      provider_timestamp: text(),
      provider_signature: text(),
    }),
    output: () => ({
      /** New events, stored by this call. */
      accepted: count(),
      /** Events that were already stored. */
      repeated: count(),
      /** Events for emails that do not belong to the account. */
      unknown: count(),
      /** Events of unsupported kinds. */
      ignored: count(),
    }),
  }),
  setUp: endpoint({
    summary: "Show or change how the email provider signs its events",
    overwrites: { question: "Change how the email provider signs its events", ifAnyOf: ["rotate", "public_key"] },
    ...route("POST", `${path}/set_up`),
    effect: "once",
    returnsSecret: true,
    input: () => ({
      /** Create a new secret. Signatures with the previous secret are no longer accepted. */
      rotate: shape.boolean.optional(),
      /** Public key of the provider (P-256; base64-encoded SPKI, or PEM). An empty string removes it. */
      public_key: z.string().max(2_048).optional(),
    }),
    output: () => ({
      /** URL to which the provider sends events. */
      url: z.string(),
      secret: z.string(),
      public_key: z.string().nullable(),
    }),
  }),
};

/** Why nothing more is sent to an address: an email bounced, or was reported as spam. */
export const suppressionKinds = ["bounces", "spamreports"] as const;
export type SuppressionKind = (typeof suppressionKinds)[number];

/** `erased`: the customer's data was erased, and only a hash of the address is stored. */
export const customerSuppressions = [...suppressionKinds, "erased"] as const;
export type CustomerSuppression = (typeof customerSuppressions)[number];

export const emailSuppressions = {
  lift: endpoint({
    summary: "Allow emails to an address again after a bounce or a spam report",
    overwrites: { question: "Allow emails to {email} again" },
    ...route("DELETE", `${extensionPrefix}/apps/{app_key}/mail_suppressions`),
    effect: "repeatable",
    roles: ["support"],
    input: () => ({ email: shape.email }),
    output: () => ({ email: z.string(), lifted: z.array(z.enum(customerSuppressions)) }),
  }),
};
