import * as z from "zod";
import { endpoint, extensionPrefix, route } from "../endpoint.ts";
import { lazily } from "../lazily.ts";
import { lazyObject } from "../lazy-object.ts";

/** An email setting of an account: its default and its valid values. */
export type EmailSetting = { readonly description: string } & (
  | { readonly type: "switch"; readonly default: boolean }
  | { readonly type: "number"; readonly default: number; readonly min: number; readonly max: number }
  | { readonly type: "choice"; readonly default: string; readonly choices: readonly string[] }
);

const number = (description: string, value: number, [min, max]: readonly [number, number]) =>
  ({ type: "number", description, default: value, min, max }) as const;
const onOff = (description: string, value: boolean) => ({ type: "switch", description, default: value }) as const;

/**
 * Email settings of an account, with their defaults.
 * Source: common practice of review services: no review request for an order older than six months, none to a customer
 * who reviewed the product in the last twelve months, and at most five per customer in 30 days. Assumed: a request is
 * due 14 days after the order date, or immediately if that has passed; reminders are sent, and opens and clicks tracked,
 * only on request.
 */
export const emailSettings = {
  send_review_requests: onOff("send review requests", true),
  due_after_days: number("days from the order date to its review requests (applies to new orders)", 14, [0, 365]),
  one_mail_per: {
    type: "choice",
    description: "send one review request per product or per order (applies to new orders)",
    default: "order",
    choices: ["product", "order"],
  },
  send_reminders: onOff("send a reminder if the customer has not reviewed the product", false),
  remind_after_days: number("days from a review request or a coupon to its reminder", 7, [1, 365]),
  send_site_requests: onOff("send requests to review the store (applies to new orders)", false),
  site_request_after_days: number(
    "days from the order date to the request to review the store (applies to new orders)",
    21,
    [0, 365],
  ),
  send_site_reminders: onOff("send a reminder if the customer has not reviewed the store", false),
  send_coupons: onOff("send a coupon code after the first published review of an order", false),
  send_coupon_reminders: onOff("send a reminder of the coupon code", false),
  ask_shoppers: onOff("ask up to five recent buyers of a product to answer a new question about it", false),
  track_opens: onOff("track when emails are opened", false),
  track_clicks: onOff("track clicks on links in emails", false),
  order_too_old: onOff("send no review requests for old orders", true),
  oldest_order_months: number("age in months after which an order is old", 6, [1, 120]),
  bounced_before: onOff("send nothing to addresses that bounced", true),
  reviewed_lately: onOff("send no review requests for products that the customer reviewed recently", true),
  reviewed_within_months: number("age in months up to which a review is recent", 12, [1, 120]),
  too_many_to_person: onOff("limit the number of review requests per customer", true),
  most_mails_to_person: number("maximum number of review requests per customer in the period", 5, [1, 1_000]),
  most_mails_days: number("length of the period in days", 30, [1, 365]),
} as const satisfies Readonly<Record<string, EmailSetting>>;

export type EmailSettingName = keyof typeof emailSettings;
export const emailSettingNames = Object.keys(emailSettings) as EmailSettingName[];

export type EmailSettings = {
  readonly [N in EmailSettingName]: (typeof emailSettings)[N] extends { choices: readonly (infer C)[] }
    ? C
    : (typeof emailSettings)[N]["type"] extends "number"
      ? number
      : boolean;
};
export type EmailSettingValue = EmailSettings[EmailSettingName];

export const emailSettingDefaults = Object.fromEntries(
  emailSettingNames.map((name) => [name, emailSettings[name].default]),
) as EmailSettings;

/** A rule that prevents an email from being sent. */
export interface EmailRule {
  /** When the rule applies; `{name}` stands for the value of a setting. */
  readonly description: string;
  /** The rule's switch (a setting of the same name) and numbers. A rule without a switch is always on. */
  readonly settings: readonly EmailSettingName[];
}

/**
 * Rules that prevent an email, in order of evaluation: the first one that applies decides.
 * Assumed: rules that follow from an explicit request (unsubscribing, a spam report, a cancellation, a blacklisted
 * product) or from an invalid address cannot be turned off; rules that follow from common practice can.
 */
const rules = {
  past_order: {
    description: "the order was imported without sending emails",
    settings: [],
  },
  requests_off: {
    description: "the store has turned off review requests",
    settings: ["send_review_requests"],
  },
  stopped_by_hand: { description: "the store canceled this email", settings: [] },
  held_too_long: { description: "the email was held for more than 30 days", settings: [] },
  order_too_old: {
    description: "the order is older than {oldest_order_months} months",
    settings: ["order_too_old", "oldest_order_months"],
  },
  bad_address: { description: "the email address of the order is invalid", settings: [] },
  product_blacklisted: { description: "the store does not collect reviews for the product", settings: [] },
  mails_stopped: {
    description: "the store canceled the emails for the order, or for this product of the order",
    settings: [],
  },
  unsubscribed: { description: "the address is unsubscribed from this type of email", settings: [] },
  reported_spam: { description: "the customer reported an earlier email as spam", settings: [] },
  bounced_before: {
    description: "an earlier email to the address bounced",
    settings: ["bounced_before"],
  },
  nothing_written: { description: "the address has no confirmed review or question", settings: [] },
  reviewed_lately: {
    description: "the customer reviewed the product in the last {reviewed_within_months} months",
    settings: ["reviewed_lately", "reviewed_within_months"],
  },
  too_many_to_person: {
    description: "the customer already received {most_mails_to_person} review requests within {most_mails_days} days",
    settings: ["too_many_to_person", "most_mails_to_person", "most_mails_days"],
  },
} as const satisfies Readonly<Record<string, EmailRule>>;

export type EmailRuleName = keyof typeof rules;
export const emailRuleNames = Object.keys(rules) as readonly EmailRuleName[];
export const emailRuleTable: Readonly<Record<EmailRuleName, EmailRule>> = rules;

/** The rules that apply to a forecast: all except those about individual emails and existing orders. */
export const forecastRuleNames = emailRuleNames.filter(
  (name): name is ForecastRuleName =>
    name !== "past_order" && name !== "stopped_by_hand" && name !== "held_too_long" && name !== "nothing_written",
);
export type ForecastRuleName = Exclude<
  EmailRuleName,
  "past_order" | "stopped_by_hand" | "held_too_long" | "nothing_written"
>;

/** Returns the setting that turns the rule on or off, if there is one. It has the same name as the rule. */
export function findRuleSwitch(name: EmailRuleName): EmailSettingName | undefined {
  return emailRuleTable[name].settings.find((setting) => setting === (name as string));
}

/** Describes when a rule applies, using the numbers set by the account. */
export function describeEmailRule(name: EmailRuleName, settings: EmailSettings): string {
  return emailRuleTable[name].description.replace(/\{(\w+)\}/g, (_, setting: string) =>
    String(settings[setting as EmailSettingName]),
  );
}

const switchValues: Readonly<Record<string, boolean>> = { on: true, true: true, off: false, false: false };

/** Parses a setting value given as JSON or text. Returns `problem` if the value is not valid for the setting. */
export function parseEmailSetting(
  name: EmailSettingName,
  input: unknown,
): { readonly value: EmailSettingValue } | { readonly problem: string } {
  const setting: EmailSetting = emailSettings[name];
  if (setting.type === "switch") {
    const value = typeof input === "boolean" ? input : switchValues[String(input).toLowerCase()];
    return value === undefined ? { problem: "must be on or off" } : { value };
  }
  if (setting.type === "number") {
    const { min, max } = setting;
    const value = /^\d{1,9}$/.test(String(input)) ? Number(input) : Number.NaN;
    return value >= min && value <= max ? { value } : { problem: `must be an integer from ${min} to ${max}` };
  }
  return setting.choices.includes(String(input))
    ? { value: String(input) as EmailSettingValue }
    : { problem: `must be one of ${setting.choices.join(", ")}` };
}

const value = lazily(() => z.union([z.boolean(), z.number(), z.string()]));

/** A setting with its value for the account. */
const emailSetting = lazyObject(() => ({
  name: z.enum(emailSettingNames),
  /** Description. */
  description: z.string(),
  type: z.enum(["switch", "number", "choice"]),
  value: value(),
  default: value(),
  /** Whether the account has set a value. */
  changed: z.boolean(),
  /** Minimum and maximum of a number. */
  min: z.number().nullable(),
  max: z.number().nullable(),
  choices: z.array(z.string()).nullable(),
}));

/** A rule with its state for the account. */
const emailRule = lazyObject(() => ({
  name: z.enum(emailRuleNames),
  /** Description of when the rule applies. */
  description: z.string(),
  on: z.boolean(),
  can_be_off: z.boolean(),
  /** Settings that the rule uses. */
  settings: z.array(z.enum(emailSettingNames)),
}));

const path = `${extensionPrefix}/apps/{app_key}/mail_rules`;
export const emailRules = {
  list: endpoint({
    summary: "List email settings and the rules that decide whether an email is sent",
    ...route("GET", path),
    effect: "read",
    output: () => ({ rules: z.array(emailRule()), settings: z.array(emailSetting()) }),
  }),
  set: endpoint({
    summary: "Change an email setting (null restores the default)",
    overwrites: { question: "Change the email setting {name}" },
    ...route("PUT", path),
    effect: "repeatable",
    input: () => ({
      name: z.enum(emailSettingNames, { error: `must be one of ${emailSettingNames.join(", ")}` }),
      value: value().nullable(),
    }),
    output: () => ({ setting: emailSetting() }),
  }),
};
