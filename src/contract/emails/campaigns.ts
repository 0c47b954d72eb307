import * as z from "zod";
import { endpoint, extensionPrefix, route } from "../endpoint.ts";
import { lazily } from "../lazily.ts";
import { lazyObject } from "../lazy-object.ts";
import { timeRange } from "../lists/filters.ts";
import { maxLength, shape, timestamp } from "../shapes.ts";
import { campaignCategories, emailStates } from "./categories.ts";
import { type ForecastRuleName, forecastRuleNames } from "./rules.ts";

/**
 * - `running`: emails are queued, at its rate
 * - `stopped`: nothing is queued, and queued emails are held
 * - `done`: all emails are queued
 */
export const campaignStates = ["running", "stopped", "done"] as const;
export type CampaignState = (typeof campaignStates)[number];

/** Assumed: larger campaigns choose orders by date or product; no mail server accepts a higher rate. */
export const campaignLimits = { listed: 10_000, products: 1_000, perHour: 10_000_000 } as const;

const list = <T extends z.ZodType>(element: T, max: number) =>
  z
    .array(element)
    .min(1, { error: "is empty" })
    .max(max, { error: `has more than ${max} elements` })
    .optional();

const category = lazily(() => z.enum(campaignCategories, { error: `must be one of ${campaignCategories.join(", ")}` }));

/** Which orders a campaign is about, and how fast it is. */
const plan = lazily(() => ({
  category: category(),
  emails_per_hour: z
    .number({ error: "must be a number" })
    .int()
    .min(1, { error: "must be at least 1" })
    .max(campaignLimits.perHour, { error: `must be at most ${campaignLimits.perHour}` }),
  /** Order dates, not times of storage. `until_date` itself is not part of the range. */
  ...timeRange(),
  /** Only orders of these products, and only about them. */
  product_ids: list(shape.id, campaignLimits.products),
  /** Only these orders. */
  order_ids: list(shape.id, campaignLimits.listed),
  /** Only orders of these customers. */
  emails: list(shape.email, campaignLimits.listed),
}));

const rules = lazily(() =>
  z.object(
    Object.fromEntries(forecastRuleNames.map((name) => [name, z.number().int()])) as Record<
      ForecastRuleName,
      z.ZodNumber
    >,
  ),
);

const campaign = lazyObject(() => ({
  id: z.number().int(),
  name: z.string(),
  category: z.enum(campaignCategories),
  state: z.enum(campaignStates),
  emails_per_hour: z.number().int(),
  created_at: timestamp(),
  since_date: timestamp().nullable(),
  until_date: timestamp().nullable(),
  product_ids: z.array(z.string()).nullable(),
  /** The number of orders that were chosen by their IDs or customers; null if by filters. */
  listed_orders: z.number().int().nullable(),
}));
export type Campaign = z.output<ReturnType<typeof campaign>>;

const progress = lazily(() => ({
  campaign: campaign(),
  /** Its emails so far, by state. */
  emails: z.object(
    Object.fromEntries(emailStates.map((name) => [name, z.number().int()])) as Record<
      (typeof emailStates)[number],
      z.ZodNumber
    >,
  ),
  /** Emails that were not sent, by reason. */
  not_sent: z.record(z.string(), z.number().int()),
}));

const campaignId = lazily(() => ({ campaign_id: shape.rowId }));
const path = `${extensionPrefix}/apps/{app_key}/mail_campaigns`;

export const campaigns = {
  forecast: endpoint({
    summary: "Forecast the emails of a campaign: how many, which are prevented, and how long it takes",
    ...route("POST", `${path}/forecast`),
    effect: "read",
    input: () => plan(),
    output: () => ({
      /** Orders that the campaign chooses. */
      orders: z.number().int(),
      /** Orders among them that were imported without emails. Campaigns send emails about them as well. */
      past_orders: z.number().int(),
      mails: z.number().int(),
      /** Distinct addresses, ignoring case. */
      people: z.number().int(),
      /** Emails that are not sent, by rule. */
      not_sent: rules(),
      /** Emails that are not sent because campaigns asked the customer about the same before. */
      asked_before: z.number().int(),
      /** How long the campaign takes at its rate. */
      hours: z.number(),
      /** The first of the order IDs and addresses that no order has. */
      not_found: z.array(z.string()),
    }),
  }),
  create: endpoint({
    summary: "Create and start a campaign: review requests to the customers of chosen orders",
    ...route("POST", path),
    effect: "once",
    roles: ["support"],
    input: () => ({ name: z.string().trim().min(1, { error: "is empty" }).max(maxLength.id), ...plan() }),
    output: () => ({ campaign: campaign() }),
  }),
  list: endpoint({
    summary: "List campaigns, newest first",
    listing: { items: "campaigns" },
    ...route("GET", path),
    effect: "read",
    output: () => ({ campaigns: z.array(campaign()) }),
  }),
  get: endpoint({
    summary: "Show a campaign and how many of its emails were sent",
    ...route("GET", `${path}/{campaign_id}`),
    effect: "read",
    input: () => campaignId(),
    output: () => progress(),
  }),
  stop: endpoint({
    summary: "Stop a campaign: queue no more emails, and hold those that are queued",
    ...route("POST", `${path}/{campaign_id}/stop`),
    effect: "repeatable",
    roles: ["support"],
    input: () => campaignId(),
    output: () => progress(),
  }),
  resume: endpoint({
    summary: "Resume a stopped campaign",
    ...route("POST", `${path}/{campaign_id}/resume`),
    effect: "repeatable",
    roles: ["support"],
    input: () => campaignId(),
    output: () => progress(),
  }),
};
