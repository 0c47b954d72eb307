import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { enveloped, statusOnly } from "./reply.ts";
import { shape } from "./shapes.ts";

/** Source: spec "Email statistics". */
export const mailCategories = [
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
export type MailCategory = (typeof mailCategories)[number];

/** Source: spec "Email statistics". */
export const mailCounters = [
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
export type MailCounter = (typeof mailCounters)[number];

/** Source: spec "Mail and statistics". */
export const mailAggregates = ["day", "week", "month", "quarter", "year"] as const;
export type MailAggregate = (typeof mailAggregates)[number];

/** Most that one call of statistics answers. Assumed: the specification shows no limit; three years of days are within. */
export const maxStats = { days: 7_400, ranges: 1_100 } as const;

const categories = z
  .string({
    error: (issue) => (issue.input === undefined ? "is missing" : "must be names with commas between"),
  })
  .transform((list) => [...new Set(list.split(",").map((name) => name.trim()))].filter((name) => name !== ""))
  .pipe(
    z
      .array(z.enum(mailCategories, { error: `must be among ${mailCategories.join(", ")}` }))
      .min(1, { error: "is missing" }),
  );

const counters = z.object(
  Object.fromEntries(mailCounters.map((name) => [name, z.number().int()])) as Record<
    MailCounter,
    z.ZodNumber
  >,
);

export const mail = {
  stats: endpoint({
    summary: "Read mail statistics by category and range",
    method: "GET",
    paths: ["/apps/{app_key}/email_stats/{since_date}/{to_date}"],
    auth: "utoken",
    effect: "read",
    input: z.object({
      since_date: shape.date,
      to_date: shape.date,
      categories,
      aggregate: z.enum(mailAggregates, { error: `must be one of ${mailAggregates.join(", ")}` }),
    }),
    /** Category, then `<start>,<end>`, then counters. */
    output: z.record(z.string(), z.record(z.string(), counters)),
    reply: enveloped,
  }),
  sendTest: endpoint({
    summary: "Send a test mail-after-purchase",
    method: "POST",
    paths: ["/apps/{app_key}/reminders/send_test_email"],
    auth: "utoken",
    effect: "once",
    input: z.object({ email: shape.email.optional() }),
    output: z.object({}),
    reply: statusOnly,
  }),
};
