import type { emailTypes } from "../unsubscribers.ts";

export type EmailTypeId = keyof typeof emailTypes;

/**
 * The email type of each category, which is what recipients unsubscribe from. Source: spec "Email statistics".
 * Assumed: the specification lists types and categories but not how they relate; resent emails have the type of manual
 * resends. The coupon types have no category, so their emails have categories of this product. Nobody can unsubscribe from
 * type 0.
 */
export const emailTypeOf = {
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
  my_reviews: 0,
  coupon_reminder: 16,
  coupon_notification: 17,
} as const satisfies Readonly<Record<string, EmailTypeId | 0>>;

export type EmailCategory = keyof typeof emailTypeOf;
/** All categories of emails. */
export const recordedCategories = Object.keys(emailTypeOf) as readonly EmailCategory[];

/** Categories of this product, which the statistics of the specification do not contain. */
const ownCategories: ReadonlySet<string> = new Set<EmailCategory>([
  "my_reviews",
  "coupon_notification",
  "coupon_reminder",
]);

/** Source: spec "Email statistics". */
export const emailCategories = recordedCategories.filter((category) => !ownCategories.has(category));

/**
 * The categories of emails that the service sends, which have templates.
 * Assumed: copies of emails that are resent have no templates of their own. Statistics contain all categories.
 */
export const sentEmailCategories = [
  "map",
  "reminder",
  "mail_after_invoice",
  "site_reminder",
  "mail_after_service",
  "anonymous_testimonials_request",
  "comment_request",
  "comment_notification",
  "question_confirmation",
  "answer_request_shop_owner",
  "answer_request_shoppers",
  "answer_notification_shop_owner",
  "answer_notification_shoppers",
  "custom_map",
  "testimonials_request",
  "my_reviews",
  "coupon_notification",
  "coupon_reminder",
] as const satisfies readonly EmailCategory[];
export type SentEmailCategory = (typeof sentEmailCategories)[number];

/** The categories of emails that the store sends to addresses that it names. */
export const sendCategories = ["mail_after_service"] as const satisfies readonly SentEmailCategory[];

const siteRequests: ReadonlySet<string> = new Set<EmailCategory>([
  "mail_after_invoice",
  "site_reminder",
  "mail_after_service",
  "testimonials_request",
]);

/** Whether emails of a category ask for a review of the store instead of products. */
export function isSiteRequest(category: string): boolean {
  return siteRequests.has(category);
}

/**
 * Categories of emails that ask for something without an order. All rules apply to them, and they count toward the limit per
 * customer, like those of orders.
 */
export const requestsWithoutOrder = [
  ...sendCategories,
  "answer_request_shoppers",
] as const satisfies readonly EmailCategory[];

/** The categories of emails that can be resent, and of their copies, which have the same templates. */
export const resendCategories = {
  map: "resend_map",
  reminder: "resend_reminder",
  custom_map: "resend_custom_map",
} as const satisfies Partial<Record<SentEmailCategory, EmailCategory>>;

/** The categories of emails that campaigns send. */
export const campaignCategories = [
  "custom_map",
  "testimonials_request",
] as const satisfies readonly SentEmailCategory[];
export type CampaignCategory = (typeof campaignCategories)[number];

export function isCampaignCategory(category: string): category is CampaignCategory {
  return campaignCategories.some((name) => name === category);
}

/** The category whose template an email has. */
export function templateCategoryOf(category: string): SentEmailCategory {
  const [resent] = Object.entries(resendCategories).find(([, copy]) => copy === category) ?? [];
  return (resent ?? category) as SentEmailCategory;
}

/** The categories of an email type. */
export function categoriesOf(emailTypeId: number): readonly EmailCategory[] {
  return recordedCategories.filter((category) => emailTypeOf[category] === emailTypeId);
}

/** Categories of emails to the people of the store. All others are sent to shoppers. */
const storeCategories: ReadonlySet<string> = new Set<EmailCategory>([
  "comment_request",
  "answer_request_shop_owner",
  "answer_notification_shop_owner",
]);

export function isToShopper(category: string): boolean {
  return !storeCategories.has(category);
}

/** The types of emails that answer an action of their recipient: verify a review, confirm a question, request a link. */
const requestedTypes: ReadonlySet<number> = new Set([
  emailTypeOf.anonymous_testimonials_request,
  emailTypeOf.question_confirmation,
  emailTypeOf.my_reviews,
]);

/**
 * Whether the recipient's own unsubscription stops emails of a type.
 * Assumed: it does not stop emails without which a later review would stay anonymous, or a question unpublished. The
 * store can stop them.
 */
export function isStoppedByRecipient(emailTypeId: number): boolean {
  return !requestedTypes.has(emailTypeId);
}

/** The types whose unsubscriptions stop emails of a category: a resent email is also one of the type that it had. */
export function stoppingTypesOf(category: string): readonly number[] {
  return [...new Set([emailTypeOf[category as EmailCategory], emailTypeOf[templateCategoryOf(category)]])];
}

/**
 * The type that the unsubscribe link of an email unsubscribes from: if its own cannot be stopped, answers to the question that
 * was asked, or review requests.
 */
export function unsubscribeTypeOf(emailTypeId: number): number {
  if (isStoppedByRecipient(emailTypeId)) return emailTypeId;
  return emailTypeId === emailTypeOf.question_confirmation ? emailTypeOf.answer_notification_shoppers : emailTypeOf.map;
}

/**
 * - `queued`: waiting for its due time or the next attempt
 * - `leased`: claimed by a worker that has not started to send it
 * - `sending`: being sent; if the worker is lost in this state, the email may or may not have been delivered
 * - `sent`: accepted by the mail server, or written to the outbox folder
 * - `not_sent`: prevented by a rule or canceled; the reason is recorded
 * - `bounced`: permanently rejected by the recipient's server
 * - `failed`: abandoned after the last attempt, or could not be composed
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

interface Counted {
  /** Counter that increases with every event. */
  readonly each?: EmailCounter;
  /** Counter that increases once per email, on the day of the earliest event. */
  readonly first?: EmailCounter;
}

/**
 * The counters of events that are counted.
 * Source: spec "Email statistics", whose counters are named like those of an email provider.
 * Assumed: an event that can happen only once per email is counted once, even if the worker and the provider both report
 * it, or the provider repeats it with another ID. Counters without an event stay at zero.
 */
const counted = {
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
} as const satisfies Readonly<Record<string, Counted>>;

/** Events in the history of an email. */
export const emailEventNames = [
  ...(Object.keys(counted) as (keyof typeof counted)[]),
  ...(["begun", "deferred", "taken_up", "not_sent", "failed"] as const),
] as const;
export type EmailEventName = (typeof emailEventNames)[number];

export const countersOf: Readonly<Partial<Record<EmailEventName, Counted>>> = counted;

/**
 * Events after which an email counts as not delivered, even if its mail server accepted it.
 * Source: spec "Email statistics". Assumed: `delivered` excludes emails that bounced or were dropped later.
 */
export const undeliveredEvents: ReadonlySet<EmailEventName> = new Set([
  "bounced",
  "blocked",
  "invalid_address",
  "spam_dropped",
  "dropped_unsubscribed",
  "dropped_bounced",
  "dropped_spam_reported",
  "failed",
]);

/**
 * - `queued`: waiting for the next attempt
 * - `leased`: being delivered by a worker
 * - `delivered`: the receiver responded with a status from 200 to 299
 * - `failed`: abandoned after the last attempt
 */
export const deliveryStates = ["queued", "leased", "delivered", "failed"] as const;
export type DeliveryState = (typeof deliveryStates)[number];
