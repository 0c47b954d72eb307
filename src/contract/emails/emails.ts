import * as z from "zod";
import { endpoint, extensionPrefix } from "../endpoint.ts";
import {
  type EmailCounter,
  emailCategories,
  emailCounters,
  emailEventNames,
  emailStates,
} from "./categories.ts";
import { emailExplanation } from "./explanation.ts";
import { type ForecastRuleName, forecastRuleNames } from "./rules.ts";
import { enveloped, statusOnly } from "../reply.ts";
import { shape, timestamp } from "../shapes.ts";
import { lazily } from "../lazily.ts";

/** Mails of a page. Assumed: as other lists of an account. */
export const emailPage = { default: 20, max: 1_000 } as const;

/**
 * - `newest`, `oldest`: by id
 * - `soonest`, `latest`: by when they are due, or were
 */
export const emailSorts = ["newest", "oldest", "soonest", "latest"] as const;
export type EmailSort = (typeof emailSorts)[number];

/** A mail that is to be sent, was, or is not. */
export const emailRecord = lazily(() =>
  z.object({
    id: z.number().int(),
    category: z.enum(emailCategories),
    email: z.string(),
    name: z.string(),
    state: z.enum(emailStates),
    /** Why it is not sent, by the rule's name or in the words of who refused it; or what the last attempt came to. */
    reason: z.string().nullable(),
    created_at: timestamp(),
    /** When it is to be sent, or the next attempt made; in the past where it was. */
    due_at: timestamp(),
    sent_at: timestamp().nullable(),
    attempts: z.number().int(),
    /** A mail of `mail test`. */
    is_test: z.boolean(),
    /** The store's own ids of what it asks about; nothing where no order brings it, no product where it is the whole order. */
    order_id: z.string().nullable(),
    product_id: z.string().nullable(),
  }),
);
export type EmailRecord = z.output<ReturnType<typeof emailRecord>>;

/** What happened to a mail. */
const emailHistoryEvent = lazily(() =>
  z.object({
    event: z.enum(emailEventNames),
    occurred_at: timestamp(),
    /** When it was told, where that was later. */
    noted_at: timestamp(),
    detail: z.string().nullable(),
  }),
);

/** Source: spec "Mail and statistics". */
export const emailAggregates = ["day", "week", "month", "quarter", "year"] as const;
export type EmailAggregate = (typeof emailAggregates)[number];

/** Most that one call of statistics answers. Assumed: the specification shows no limit; three years of days are within. */
export const maxStats = { days: 7_400, ranges: 1_100 } as const;

const categories = lazily(() =>
  z
    .string({
      error: (issue) => (issue.input === undefined ? "is missing" : "must be names with commas between"),
    })
    .transform((list) =>
      [...new Set(list.split(",").map((name) => name.trim()))].filter((name) => name !== ""),
    )
    .pipe(
      z
        .array(z.enum(emailCategories, { error: `must be among ${emailCategories.join(", ")}` }))
        .min(1, { error: "is missing" }),
    ),
);

const counters = lazily(() =>
  z.object(
    Object.fromEntries(emailCounters.map((name) => [name, z.number().int()])) as Record<
      EmailCounter,
      z.ZodNumber
    >,
  ),
);

/** What mails would follow, and when. */
const emailForecast = lazily(() =>
  z.object({
    mails: z.number().int(),
    /** Addresses, however they are written. */
    people: z.number().int(),
    /** In their order; what is overdue counts as today's. */
    days: z.array(z.object({ day: z.string(), mails: z.number().int() })),
    not_sent: z.object(
      Object.fromEntries(forecastRuleNames.map((name) => [name, z.number().int()])) as Record<
        ForecastRuleName,
        z.ZodNumber
      >,
    ),
  }),
);

const oneOf = (names: readonly string[]) => `must be one of ${names.join(", ")}`;
const knownStates = `must be among ${emailStates.join(", ")}`;
const stateList = lazily(() =>
  z
    .string({ error: "must be names with commas between" })
    .transform((list) =>
      [...new Set(list.split(",").map((name) => name.trim()))].filter((name) => name !== ""),
    )
    .pipe(z.array(z.enum(emailStates, { error: knownStates })).min(1, { error: knownStates })),
);

const prefix = `${extensionPrefix}/apps/{app_key}/mails`;
const own = { extension: "own", auth: "utoken", reply: enveloped } as const;

export const emails = {
  list: endpoint({
    summary: "List mails: the newest first, or with `since_id` the oldest first",
    listing: {
      items: "mails",
      by: "since_id",
      isNewestFirst: true,
      size: { field: "count", max: emailPage.max },
    },
    method: "GET",
    paths: [prefix],
    ...own,
    effect: "read",
    input: () =>
      z.object({
        /** Names of states, with commas between. */
        state: stateList().optional(),
        order_id: shape.id.optional(),
        email: shape.email.optional(),
        category: z.enum(emailCategories, { error: oneOf(emailCategories) }).optional(),
        sort: z.enum(emailSorts, { error: oneOf(emailSorts) }).optional(),
        since_id: shape.rowId.optional(),
        count: shape.count.optional(),
      }),
    output: () => z.object({ mails: z.array(emailRecord()) }),
  }),
  get: endpoint({
    summary: "Tell all that is known of a mail: what it says, and what became of it",
    method: "GET",
    paths: [`${prefix}/{mail_id}`],
    ...own,
    effect: "read",
    // Its links do what their reader may.
    returnsSecret: true,
    input: () => z.object({ mail_id: shape.rowId }),
    output: () =>
      z.object({
        mail: emailRecord(),
        /** What it says, made as it would be now; nothing where its template cannot be followed. */
        message: z.object({ subject: z.string(), text: z.string(), html: z.string() }).nullable(),
        events: z.array(emailHistoryEvent()),
      }),
  }),
  cancel: endpoint({
    summary: "Stop a mail that waits to be sent",
    destroys: { question: "Stop mail {mail_id}" },
    method: "POST",
    paths: [`${prefix}/{mail_id}/stop`],
    ...own,
    effect: "repeatable",
    input: () => z.object({ mail_id: shape.rowId }),
    output: () => z.object({ mail: emailRecord() }),
  }),
  forecast: endpoint({
    summary: "Tell which mails-after-purchase orders would bring, if they were mailed",
    method: "GET",
    paths: [`${extensionPrefix}/apps/{app_key}/mail_forecast`],
    extension: "own",
    auth: "utoken",
    effect: "read",
    input: () =>
      z.object({
        /** The first purchase that is looked at; all of them where absent. */
        since_purchase_id: shape.count.optional(),
      }),
    output: () => emailForecast(),
    reply: enveloped,
  }),
  stats: endpoint({
    summary: "Read mail statistics by category and range",
    method: "GET",
    paths: ["/apps/{app_key}/email_stats/{since_date}/{to_date}"],
    auth: "utoken",
    effect: "read",
    input: () =>
      z.object({
        since_date: shape.date,
        to_date: shape.date,
        categories: categories(),
        aggregate: z.enum(emailAggregates, { error: `must be one of ${emailAggregates.join(", ")}` }),
      }),
    /** Category, then `<start>,<end>`, then counters. */
    output: () => z.record(z.string(), z.record(z.string(), counters())),
    reply: enveloped,
  }),
  sendTest: endpoint({
    summary: "Send a test mail-after-purchase",
    method: "POST",
    paths: ["/apps/{app_key}/reminders/send_test_email"],
    auth: "utoken",
    effect: "once",
    input: () => z.object({ email: shape.email.optional() }),
    output: () => z.object({}),
    reply: statusOnly,
  }),
  ...emailExplanation,
};
