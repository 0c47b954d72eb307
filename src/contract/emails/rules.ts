/** A setting of an account's mails: what it is by itself, and what it may be. */
export type EmailSetting = { readonly words: string } & (
  | { readonly type: "switch"; readonly default: boolean }
  | { readonly type: "number"; readonly default: number; readonly min: number; readonly max: number }
  | { readonly type: "choice"; readonly default: string; readonly choices: readonly string[] }
);

const number = (words: string, value: number, [min, max]: readonly [number, number]) =>
  ({ type: "number", words, default: value, min, max }) as const;
const onOff = (words: string, value: boolean) => ({ type: "switch", words, default: value }) as const;

/** Why a mail is not sent, and the first of these that holds decides. */
export const emailRuleNames = [
  "past_order",
  "requests_off",
  "stopped_by_hand",
  "order_too_old",
  "bad_address",
  "product_blacklisted",
  "mails_stopped",
  "unsubscribed",
  "reported_spam",
  "bounced_before",
  "reviewed_lately",
  "too_many_to_person",
] as const;
export type EmailRuleName = (typeof emailRuleNames)[number];

/** Why a product of an order would bring no mail if it were mailed; what was done to a mail itself is none of these. */
export const forecastRuleNames = emailRuleNames.filter(
  (name): name is ForecastRuleName => name !== "past_order" && name !== "stopped_by_hand",
);
export type ForecastRuleName = Exclude<EmailRuleName, "past_order" | "stopped_by_hand">;

/**
 * What an account can set of its mails, and what it is where nothing is set.
 * Source: practice of services of this kind: no review request for an order older than six months, none to a person who
 * reviewed the same product in the last twelve, no more than five to a person in 30 days. Assumed: a request is due 14
 * days after its order's date, and at once where that is past; opens and clicks are not tracked unless the store says so.
 */
export const emailSettings = {
  send_review_requests: onOff("review requests are sent at all", true),
  due_after_days: number(
    "days from the date of an order that comes from now on to its review requests",
    14,
    [0, 365],
  ),
  one_mail_per: {
    type: "choice",
    words:
      "what the review requests of orders that come from now on are about: each product, or the whole order",
    default: "product",
    choices: ["product", "order"],
  },
  track_opens: onOff("mails hold an image that tells when they are opened", false),
  track_clicks: onOff("links of mails tell when they are followed", false),
  order_too_old: onOff("old orders bring no review requests", true),
  oldest_order_months: number("months after which an order is old", 6, [1, 120]),
  bounced_before: onOff("nothing is sent to addresses that refused a mail for good", true),
  reviewed_lately: onOff("who reviewed a product lately is not asked for it again", true),
  reviewed_within_months: number("months back within which a review counts", 12, [1, 120]),
  too_many_to_person: onOff("a person gets only so many review requests in a time", true),
  most_mails_to_person: number("review requests to one person in that time", 5, [1, 1_000]),
  most_mails_days: number("days of that time", 30, [1, 365]),
} as const satisfies Readonly<Record<string, EmailSetting>>;

export type EmailSettingName = keyof typeof emailSettings;
export const emailSettingNames = Object.keys(emailSettings) as EmailSettingName[];

/** A value of a setting, by its name. */
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

/** A rule that keeps mails back. */
export interface EmailRule {
  /** When it holds, for a person; `{name}` stands for the value of a setting. */
  readonly words: string;
  /** Its own switch, which has its name, and its numbers; a rule without a switch is always on. */
  readonly settings: readonly EmailSettingName[];
}

/**
 * The rules, in the order of `emailRuleNames`.
 * Assumed: what a person or the store has asked for one by one (unsubscribing, a report of spam, a stop, a blacklisted
 * product) and what cannot be mailed is no rule that can be switched off; what practice made is.
 */
export const emailRuleTable: Readonly<Record<EmailRuleName, EmailRule>> = {
  past_order: {
    words: "the order was taken over as a past one, which brings no mails",
    settings: [],
  },
  requests_off: {
    words: "the store has switched review requests off",
    settings: ["send_review_requests"],
  },
  stopped_by_hand: { words: "the store has stopped this mail by hand", settings: [] },
  order_too_old: {
    words: "the order is older than {oldest_order_months} months",
    settings: ["order_too_old", "oldest_order_months"],
  },
  bad_address: { words: "the order's address is not one that mail can be sent to", settings: [] },
  product_blacklisted: { words: "the store asks for no reviews of the product", settings: [] },
  mails_stopped: {
    words: "the store has stopped the mails of the order, or of the product in it",
    settings: [],
  },
  unsubscribed: { words: "the address is unsubscribed from mails of this type", settings: [] },
  reported_spam: { words: "an earlier mail to the address was reported as spam", settings: [] },
  bounced_before: {
    words: "an earlier mail to the address was refused for good",
    settings: ["bounced_before"],
  },
  reviewed_lately: {
    words: "the person reviewed the product in the last {reviewed_within_months} months",
    settings: ["reviewed_lately", "reviewed_within_months"],
  },
  too_many_to_person: {
    words:
      "the person has had {most_mails_to_person} review requests within {most_mails_days} days, and more are not sent",
    settings: ["too_many_to_person", "most_mails_to_person", "most_mails_days"],
  },
};

/** The switch of a rule, where it has one: it has the rule's name. */
export function findRuleSwitch(name: EmailRuleName): EmailSettingName | undefined {
  return emailRuleTable[name].settings.find((setting) => setting === (name as string));
}

/** When a rule holds, with the numbers that an account has set. */
export function describeEmailRule(name: EmailRuleName, settings: EmailSettings): string {
  return emailRuleTable[name].words.replace(/\{(\w+)\}/g, (_, of: string) =>
    String(settings[of as EmailSettingName]),
  );
}

const switchWords: Readonly<Record<string, boolean>> = { on: true, true: true, off: false, false: false };

/** A setting's value, as a program or a person writes it; `problem` where it cannot be one. */
export function parseEmailSetting(
  name: EmailSettingName,
  written: unknown,
): { readonly value: EmailSettingValue } | { readonly problem: string } {
  const setting: EmailSetting = emailSettings[name];
  if (setting.type === "switch") {
    const value = typeof written === "boolean" ? written : switchWords[String(written).toLowerCase()];
    return value === undefined ? { problem: "must be on or off" } : { value };
  }
  if (setting.type === "number") {
    const { min, max } = setting;
    const value = /^\d{1,9}$/.test(String(written)) ? Number(written) : Number.NaN;
    return value >= min && value <= max ? { value } : { problem: `must be an integer from ${min} to ${max}` };
  }
  return setting.choices.includes(String(written))
    ? { value: String(written) as EmailSettingValue }
    : { problem: `must be one of ${setting.choices.join(", ")}` };
}
