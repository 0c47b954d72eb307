import type { emailTypes } from "../unsubscribers.ts";

/** Source: spec "Email statistics". */
export const emailCategories = [
  "reminder",
  "testimonials_request",
  "anonymous_testimonials_request",
  "mail_after_service",
  "comment_request",
  "comment_notification",
  "site_reminder",
  "mail_after_invoice",
  "question_confirmation",
  "answer_request_shop_owner",
  "answer_request_shoppers",
  "answer_notification_shop_owner",
  "answer_notification_shoppers",
  "resend_reminder",
  "resend_custom_map",
  "resend_map",
  "custom_map",
  "map",
] as const;
export type EmailCategory = (typeof emailCategories)[number];

export type EmailTypeId = keyof typeof emailTypes;

/**
 * Under which email type a category is unsubscribed from.
 * Assumed: the specification shows the two lists and not which belongs to which; what is sent once more has the type
 * of manual resends. The coupon types have no category of their own.
 */
export const emailTypeOf: Readonly<Record<EmailCategory, EmailTypeId>> = {
  reminder: 1,
  testimonials_request: 2,
  anonymous_testimonials_request: 14,
  mail_after_service: 3,
  comment_request: 4,
  comment_notification: 5,
  site_reminder: 6,
  mail_after_invoice: 7,
  question_confirmation: 8,
  answer_request_shop_owner: 9,
  answer_request_shoppers: 10,
  answer_notification_shop_owner: 11,
  answer_notification_shoppers: 12,
  resend_reminder: 13,
  resend_custom_map: 13,
  resend_map: 13,
  custom_map: 15,
  map: 1,
};

/**
 * - `queued`: waits for its time, or for the next attempt
 * - `leased`: a worker holds it, and has not yet begun to hand it over
 * - `sending`: it is being handed over; where a worker stopped here, nobody knows whether it was
 * - `sent`: handed over, or written into the outbox folder
 * - `not_sent`: a rule, or a person, keeps it back; it has a reason
 * - `bounced`: refused for good by the address's server
 * - `failed`: given up after the last attempt, or it cannot be composed
 */
export const emailStates = ["queued", "leased", "sending", "sent", "not_sent", "bounced", "failed"] as const;
export type EmailState = (typeof emailStates)[number];

/** Source: spec "Email statistics". */
export const emailCounters = [
  "delivered",
  "unsubscribes",
  "invalid_email",
  "bounces",
  "repeat_unsubscribes",
  "unique_clicks",
  "blocked",
  "spam_drop",
  "repeat_bounces",
  "repeat_spamreports",
  "requests",
  "spamreports",
  "clicks",
  "opens",
  "unique_opens",
] as const;
export type EmailCounter = (typeof emailCounters)[number];

/** What can happen to a mail; the first ones are counted, by `countersOf`. */
export const emailEventNames = [
  "requested",
  "delivered",
  "opened",
  "clicked",
  "bounced",
  "blocked",
  "invalid_address",
  "unsubscribed",
  "spam_reported",
  "spam_dropped",
  "dropped_unsubscribed",
  "dropped_bounced",
  "dropped_spam_reported",
  "begun",
  "deferred",
  "taken_up",
  "not_sent",
  "failed",
] as const;
export type EmailEventName = (typeof emailEventNames)[number];

interface Counted {
  /** Counted by every one of them. */
  readonly each?: EmailCounter;
  /** Counted once a mail, on the day of the earliest. */
  readonly first?: EmailCounter;
}

/**
 * Source: spec "Email statistics", whose counters have the names of a mail provider's.
 * Assumed: what happens to a mail once is counted once, however many tell of it: the worker that handed it over, the
 * provider, and the provider again under another id. What follows no event is not counted.
 */
export const countersOf: Readonly<Partial<Record<EmailEventName, Counted>>> = {
  requested: { first: "requests" },
  delivered: { first: "delivered" },
  opened: { each: "opens", first: "unique_opens" },
  clicked: { each: "clicks", first: "unique_clicks" },
  bounced: { first: "bounces" },
  blocked: { first: "blocked" },
  invalid_address: { first: "invalid_email" },
  unsubscribed: { first: "unsubscribes" },
  spam_reported: { first: "spamreports" },
  spam_dropped: { first: "spam_drop" },
  dropped_unsubscribed: { first: "repeat_unsubscribes" },
  dropped_bounced: { first: "repeat_bounces" },
  dropped_spam_reported: { first: "repeat_spamreports" },
};

/**
 * - `queued`: waits for its time, or for the next attempt
 * - `leased`: a worker is delivering it
 * - `delivered`: the receiver has answered with a status from 200 to 299
 * - `failed`: given up after the last attempt
 */
export const deliveryStates = ["queued", "leased", "delivered", "failed"] as const;
export type DeliveryState = (typeof deliveryStates)[number];
