import * as z from "zod";
import { endpoint, extensionPrefix, route } from "../endpoint.ts";
import {
  emailCategories,
  type EmailCategory,
  type EmailCounter,
  emailCounters,
  emailEventNames,
  emailStates,
  recordedCategories,
  sendCategories,
} from "./categories.ts";
import { emailRuleNames, type ForecastRuleName, forecastRuleNames } from "./rules.ts";
import { idPaging, nameList, nextPage, partOfText, timeRange } from "../lists/filters.ts";
import { shape, timestamp } from "../shapes.ts";
import { emailTypeId } from "../unsubscribers.ts";
import { lazily } from "../lazily.ts";
import { lazyObject } from "../lazy-object.ts";

/**
 * - `passed`: the rule does not apply, or did not when the email was evaluated
 * - `decides`: the rule prevents the email
 * - `off`: the account has turned the rule off
 * - `not_asked`: not evaluated, because an earlier rule decides
 */
export const ruleResults = ["passed", "decides", "off", "not_asked"] as const;
export type RuleResult = (typeof ruleResults)[number];

const ruleEvaluation = lazyObject(() => ({
  name: z.enum(emailRuleNames),
  description: z.string(),
  result: z.enum(ruleResults),
}));
export type RuleEvaluation = z.output<ReturnType<typeof ruleEvaluation>>;

/** What happened to the email about a product of an order, or about the entire order, and which rule decided. */
const decision = lazyObject(() => ({
  /** Products that the email is about: one, or several if it is about the entire order. */
  products: z.array(
    z.object({
      product_id: z.string(),
      name: z.string(),
      /** Rule that excludes the product from an email about other products of the order. */
      dropped_by: z.enum(emailRuleNames).nullable(),
    }),
  ),
  is_whole_order: z.boolean(),
  /** Null if there is no email. */
  mail_id: z.number().int().nullable(),
  state: z.enum(emailStates).nullable(),
  decided_by: z.enum(emailRuleNames).nullable(),
  /** When it was sent or rejected by a rule, or when it is due. */
  at: timestamp().nullable(),
  /** Explanation in one sentence, suitable for a customer. */
  sentence: z.string(),
  /** All rules, in order. For a queued email, evaluated with current data. */
  rules: z.array(ruleEvaluation()),
}));
export type ExplainedDecision = z.output<ReturnType<typeof decision>>;

/** Page size of email lists. Assumed: same as other lists of an account. */
export const emailPage = { default: 20, max: 1_000 } as const;

/**
 * - `newest`, `oldest`: by ID
 * - `soonest`, `latest`: by due time
 */
export const emailSorts = ["newest", "oldest", "soonest", "latest"] as const;
export type EmailSort = (typeof emailSorts)[number];

/** A queued, sent, or unsent email. */
export const emailRecord = lazyObject(() => ({
  id: z.number().int(),
  category: z.enum(recordedCategories),
  email: z.string(),
  name: z.string(),
  state: z.enum(emailStates),
  /** Name of the rule that prevented it, the response of the server that rejected it, or the last failure. */
  reason: z.string().nullable(),
  created_at: timestamp(),
  /** When it is (or was) to be sent, or tried again. */
  due_at: timestamp(),
  sent_at: timestamp().nullable(),
  attempts: z.number().int(),
  /** Sent by `emails.sendTest`. */
  is_test: z.boolean(),
  /** IDs assigned by the store. Null if there is no order, or if the email is about the entire order. */
  order_id: z.string().nullable(),
  product_id: z.string().nullable(),
}));
export type EmailRecord = z.output<ReturnType<typeof emailRecord>>;

/**
 * Why an email cannot be resent.
 * - `not_found`: there is no such email
 * - `other_category`: it is not a review request or reminder for an order
 * - `not_ended`: it is still queued, or is being sent
 * - `not_sent`: a rule prevented it, or it was canceled
 * - `already_resent`: it has a copy, which can be resent instead
 */
export const resendProblems = ["not_found", "other_category", "not_ended", "not_sent", "already_resent"] as const;
export type ResendProblem = (typeof resendProblems)[number];

/** Emails per call. */
export const maxResent = 500;

/** What becomes of an email that is to be resent. */
const resentEmail = lazyObject(() => ({
  mail_id: z.number().int(),
  problem: z.enum(resendProblems).nullable(),
  /** The rule that prevents the copy. */
  rule: z.enum(emailRuleNames).nullable(),
  /** The copy; null if the email has none. */
  copy_id: z.number().int().nullable(),
  /** Null if it was not found. */
  mail: emailRecord().nullable(),
}));
export type ResentEmail = z.output<ReturnType<typeof resentEmail>>;

const oneOf = (names: readonly string[]) => `must be one of ${names.join(", ")}`;

/** Recipients per call. */
export const maxRecipients = 500;

const recipientTexts = { name: 100, reference: 200 } as const;

const sendInput = lazyObject(() => ({
  category: z.enum(sendCategories, { error: oneOf(sendCategories) }),
  recipients: z
    .array(
      z.object({
        /** An invalid address is reported like one that a rule prevents. */
        email: z.string().trim().min(1).max(1_000),
        name: z.string().trim().max(recipientTexts.name).optional(),
        /** Identifies the case: nobody gets a second email about it. */
        reference: z.string().trim().max(recipientTexts.reference).optional(),
        /** When the case was solved (default: now). */
        date: shape.date.optional(),
      }),
      { error: "must be a list of recipients" },
    )
    .min(1, { error: "must not be empty" })
    .max(maxRecipients, { error: `must have at most ${maxRecipients} recipients` }),
}));

const recipientOutcome = lazyObject(() => ({
  email: z.string(),
  reference: z.string().nullable(),
  /** An email about the case was sent or queued before. */
  is_repeated: z.boolean(),
  /** The rule that prevents the email. */
  rule: z.enum(emailRuleNames).nullable(),
  /** Null if it is not sent, or in a preview. */
  mail_id: z.number().int().nullable(),
}));
export type RecipientOutcome = z.output<ReturnType<typeof recipientOutcome>>;

const resendInput = lazyObject(() => ({
  mail_ids: z.array(shape.rowId, { error: "must be a list of email IDs" }).max(maxResent, {
    error: `must have at most ${maxResent} email IDs`,
  }),
}));

const emailMessage = lazyObject(() => ({
  subject: z.string(),
  text: z.string(),
  html: z.string(),
  /** The header section; null if the message is not stored. Added later, so other versions may omit it. */
  headers: z.string().nullish(),
}));

/** An event in the history of an email. */
const emailHistoryEvent = lazyObject(() => ({
  event: z.enum(emailEventNames),
  occurred_at: timestamp(),
  /** When it was recorded; differs from `occurred_at` for events reported by a provider. */
  noted_at: timestamp(),
  detail: z.string().nullable(),
}));

/** Source: spec "Mail and statistics". */
export const emailAggregates = ["day", "week", "month", "quarter", "year"] as const;
export type EmailAggregate = (typeof emailAggregates)[number];

/** Limits of one statistics call. Assumed: the specification states no limit; three years by day are allowed. */
export const maxStats = { days: 7_400, ranges: 1_100 } as const;

const categoryList = (names: readonly EmailCategory[]) =>
  z
    .string({
      error: (issue) => (issue.input === undefined ? "is missing" : "must be a comma-separated list of names"),
    })
    .transform((list) => [...new Set(list.split(",").map((name) => name.trim()))].filter((name) => name !== ""))
    .pipe(
      z.array(z.enum(names, { error: `must be one or more of ${names.join(", ")}` })).min(1, { error: "is missing" }),
    );

const statsInput = lazyObject(() => ({
  since_date: shape.date,
  to_date: shape.date,
  aggregate: z.enum(emailAggregates, { error: `must be one of ${emailAggregates.join(", ")}` }),
}));

const counters = lazily(() =>
  z.object(
    Object.fromEntries(emailCounters.map((name) => [name, z.number().int()])) as Record<EmailCounter, z.ZodNumber>,
  ),
);

const emailForecast = lazyObject(() => ({
  mails: z.number().int(),
  /** Distinct addresses, ignoring case. */
  people: z.number().int(),
  /** In ascending order. Overdue emails count for today. */
  days: z.array(z.object({ day: z.string(), mails: z.number().int() })),
  not_sent: z.object(
    Object.fromEntries(forecastRuleNames.map((name) => [name, z.number().int()])) as Record<
      ForecastRuleName,
      z.ZodNumber
    >,
  ),
}));

const prefix = `${extensionPrefix}/apps/{app_key}/mails`;
export const emails = {
  list: endpoint({
    summary: "List emails, newest first (oldest first with `since_id`)",
    listing: {
      items: "mails",
      by: "page_info",
      size: { field: "count", max: emailPage.max },
    },
    ...route("GET", prefix),
    effect: "read",
    input: () => ({
      /** Comma-separated list of states. */
      state: nameList(emailStates).optional(),
      order_id: shape.id.optional(),
      product_id: shape.id.optional(),
      email: shape.email.optional(),
      category: z.enum(recordedCategories, { error: oneOf(recordedCategories) }).optional(),
      email_type_id: emailTypeId().optional(),
      /** Part of the address, the name, or the order ID. With it, the list is sorted by ID. */
      search: partOfText().optional(),
      /** With a range, `newest` and `oldest` sort by creation time. */
      ...timeRange(),
      sort: z.enum(emailSorts, { error: oneOf(emailSorts) }).optional(),
      ...idPaging(),
    }),
    output: () => ({ mails: z.array(emailRecord()), pagination: nextPage() }),
  }),
  get: endpoint({
    summary: "Show an email: its content, state, and history",
    ...route("GET", `${prefix}/{mail_id}`),
    effect: "read",
    roles: ["support", "read-only"],
    // The content contains links that act on behalf of the recipient.
    returnsSecret: true,
    input: () => ({ mail_id: shape.rowId }),
    output: () => ({
      mail: emailRecord(),
      /**
       * The message as it was sent, or else rendered with current data and new links. Null if the template cannot be
       * rendered.
       */
      message: emailMessage().nullable(),
      events: z.array(emailHistoryEvent()),
    }),
  }),
  cancel: endpoint({
    summary: "Cancel a queued email",
    destroys: { question: "Cancel email {mail_id}" },
    ...route("POST", `${prefix}/{mail_id}/stop`),
    effect: "repeatable",
    roles: ["support"],
    input: () => ({ mail_id: shape.rowId }),
    output: () => ({ mail: emailRecord() }),
  }),
  previewResend: endpoint({
    summary: "Report which emails would be resent, and why others would not",
    ...route("POST", `${prefix}/resend/preview`),
    effect: "read",
    input: () => resendInput(),
    output: () => ({ mails: z.array(resentEmail()) }),
  }),
  resend: endpoint({
    summary: "Resend review requests and reminders that did not arrive",
    ...route("POST", `${prefix}/resend`),
    effect: "once",
    roles: ["support"],
    input: () => resendInput(),
    output: () => ({ mails: z.array(resentEmail()) }),
  }),
  previewSend: endpoint({
    summary: "Report who would get an email, and why others would not",
    ...route("POST", `${prefix}/send/preview`),
    effect: "read",
    input: () => sendInput(),
    output: () => ({ recipients: z.array(recipientOutcome()) }),
  }),
  send: endpoint({
    summary: "Send an email to addresses, such as a request to review the store after a solved case",
    ...route("POST", `${prefix}/send`),
    effect: "once",
    roles: ["support"],
    input: () => sendInput(),
    output: () => ({ recipients: z.array(recipientOutcome()) }),
  }),
  forecast: endpoint({
    summary: "Forecast the review-request emails that orders would trigger",
    ...route("GET", `${extensionPrefix}/apps/{app_key}/mail_forecast`),
    effect: "read",
    input: () => ({
      /** Lowest purchase ID to include (default: all purchases). */
      since_purchase_id: shape.count.optional(),
      /** Only products of orders that were stored with `send_mail` (default: all, as if they had been). */
      send_mail: shape.boolean.optional(),
    }),
    output: () => emailForecast(),
  }),
  stats: endpoint({
    summary: "Show email statistics by category and date range",
    ...route("GET", "/apps/{app_key}/email_stats/{since_date}/{to_date}"),
    effect: "read",
    input: () => statsInput().extend({ categories: categoryList(emailCategories) }),
    /** Counters by category and date range (`<start>,<end>`). */
    output: () => z.record(z.string(), z.record(z.string(), counters())),
  }),
  statsOfAll: endpoint({
    summary: "Show email statistics, also of categories that the specification does not define",
    ...route("GET", `${prefix}/stats/{since_date}/{to_date}`),
    effect: "read",
    input: () => statsInput().extend({ categories: categoryList(recordedCategories) }),
    output: () => z.record(z.string(), z.record(z.string(), counters())),
  }),
  sendTest: endpoint({
    summary: "Send a test review-request email",
    ...route("POST", "/apps/{app_key}/reminders/send_test_email"),
    effect: "once",
    input: () => ({ email: shape.email.optional() }),
  }),
  explain: endpoint({
    summary: "Explain why an order's review-request emails were or were not sent",
    ...route("GET", `${extensionPrefix}/apps/{app_key}/orders/{order_id}/mails`),
    effect: "read",
    input: () => ({ order_id: shape.id, product_id: shape.id.optional() }),
    output: () => ({
      order_id: z.string(),
      order_date: timestamp(),
      email: z.string(),
      customer_name: z.string(),
      /** When the service received the order. */
      created_at: timestamp(),
      /** Whether the order was imported with emails enabled. */
      sends_mail: z.boolean(),
      decisions: z.array(decision()),
    }),
  }),
};
