import * as z from "zod";
import { endpoint, extensionPrefix } from "../endpoint.ts";
import { type MailCounter, mailCategories, mailCounters } from "./categories.ts";
import { type ForecastObstacle, forecastObstacles } from "./rules.ts";
import { enveloped, statusOnly } from "../reply.ts";
import { shape } from "../shapes.ts";
import { lazily } from "../lazily.ts";

/** Source: spec "Mail and statistics". */
export const mailAggregates = ["day", "week", "month", "quarter", "year"] as const;
export type MailAggregate = (typeof mailAggregates)[number];

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
        .array(z.enum(mailCategories, { error: `must be among ${mailCategories.join(", ")}` }))
        .min(1, { error: "is missing" }),
    ),
);

const counters = lazily(() =>
  z.object(
    Object.fromEntries(mailCounters.map((name) => [name, z.number().int()])) as Record<
      MailCounter,
      z.ZodNumber
    >,
  ),
);

/** What mails would follow, and when. */
const mailForecast = lazily(() =>
  z.object({
    mails: z.number().int(),
    /** Addresses, however they are written. */
    people: z.number().int(),
    /** In their order; what is overdue counts as today's. */
    days: z.array(z.object({ day: z.string(), mails: z.number().int() })),
    not_sent: z.object(
      Object.fromEntries(forecastObstacles.map((name) => [name, z.number().int()])) as Record<
        ForecastObstacle,
        z.ZodNumber
      >,
    ),
  }),
);

export const mail = {
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
    output: () => mailForecast(),
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
        aggregate: z.enum(mailAggregates, { error: `must be one of ${mailAggregates.join(", ")}` }),
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
};
