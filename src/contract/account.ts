import * as z from "zod";
import { cacheLifetimes } from "./http-limits.ts";
import { endpoint, extensionPrefix, route } from "./endpoint.ts";
import { bare } from "./reply.ts";
import { shape, visibleLine } from "./shapes.ts";
import { lazily } from "./lazily.ts";
import { lazyObject } from "./lazy-object.ts";
import { dayMs } from "./time.ts";
import { bottomLinesDelay } from "./reviews/bottom-lines-delay.ts";
import { publishedReviews } from "./reviews/shapes.ts";

/** How long records may stay, in days. */
const retentionLimits = { min: 1, max: 3_650 } as const;

const badRetention = `must be a number of days from ${retentionLimits.min} to ${retentionLimits.max}, such as 90d, or forever`;

/** A number of days; 0 for `forever`. */
export const retention = lazily(() =>
  z
    .union([z.number().transform((days) => `${days}d`), z.string()], { error: badRetention })
    .refine((value) => value === "forever" || isRetention(value), { error: badRetention })
    .transform((value) => (value === "forever" ? 0 : Number.parseInt(value, 10))),
);

function isRetention(value: string): boolean {
  const days = /^\d{1,4}d$/.test(value) ? Number.parseInt(value, 10) : 0;
  return days >= retentionLimits.min && days <= retentionLimits.max;
}

/** The settings of an account, in days. */
export const retentionSettings = lazily(() => ({
  /** After how many days the address and content of emails are removed; absent if they stay. */
  retain_emails: z.number().int().optional(),
  /** After how many days webhook deliveries are deleted; absent if they stay. */
  retain_webhooks: z.number().int().optional(),
}));

/** Source: spec "Authentication" 3. */
export const utokenLimits = { lifetimeMs: 14 * dayMs, perAccount: 100 } as const;

/**
 * The allowed `platform_type_id` values, with a name for each.
 * Source: spec "Account platform". Assumed: the names; the specification gives one only for 2.
 */
export const platformTypes: Readonly<Record<string, string>> = {
  1: "shopify",
  2: "general",
  3: "magento",
  4: "bigcommerce",
  5: "prestashop",
  6: "volusion",
  7: "woocommerce",
  8: "opencart",
  9: "three_d_cart",
  10: "storenvy",
  11: "cscart",
  12: "americommerce",
  13: "seoshop",
  17: "wp_ecommerce",
  19: "commerce_guys",
  20: "eccube",
  21: "shoplo",
  22: "ebay",
  23: "zepo",
};

const accountPlatform = lazyObject(() => ({
  id: z.number().int(),
  shop_token: z.string(),
  shop_domain: z.string(),
  shop_api_url: z.string().nullable(),
  plan_name: z.string(),
  platform_type: z.object({
    id: z.number().int(),
    name: z.string(),
    description: z.string().nullable(),
    billable: z.boolean(),
  }),
  deleted: z.boolean(),
  shop_user_name: z.string().nullable(),
}));

/** Features that can be turned on or off for an account. Source: spec "Errors", "Coupons", "Reviews". */
export const features = ["dynamic_coupons", "questions_and_answers", "trusted_vendor", "unsubscribers"] as const;
export type Feature = (typeof features)[number];

const featureList = lazyObject(() => ({ features: z.record(z.string(), z.boolean()) }));
const featuresPath = `${extensionPrefix}/apps/{app_key}/features`;

/** Maximum length of a store's name. Assumed: more does not fit into the sender of an email. */
export const maxStoreName = 100;

/** Settings of the account. Email settings are separate, see `emailSettings`. */
const accountSettings = lazyObject(() => ({
  settings: z.object({
    /** The store's name, or null if it has none. */
    name: z.string().nullable(),
    /** The delay of the bottom lines of all products, in seconds. */
    bottom_lines_delay: z.number().int(),
    /** How many anonymous reviews a product can get in 24 hours before others are held; null if the service does not limit them. */
    anonymous_reviews_per_day: z.number().int().nullable(),
    /** Which reviews are published without a decision of the store. */
    published_reviews: z.enum(publishedReviews).optional(),
    ...retentionSettings(),
  }),
}));

const settingsPath = `${extensionPrefix}/apps/{app_key}/settings`;

const maxDelay = bottomLinesDelay.maxMs / 1_000;

/** The lifetime of a sign-in URL. Assumed: the specification does not state it. */
export const signInLifetimeMs = 5 * 60 * 1_000;

export const account = {
  setPlatform: endpoint({
    summary: "Set the account's e-commerce platform",
    overwrites: { question: "Change the account's e-commerce platform" },
    ...route("POST", "/apps/{app_key}/account_platform"),
    effect: "repeatable",
    input: () => ({
      account_platform: z.object({
        shop_domain: z
          .string()
          .regex(/^http:\/\/[^\s/]\S*$/, { error: "must start with http://" })
          .pipe(shape.url),
        platform_type_id: z
          .union([z.string(), z.number().transform(String)], {
            error: "must be one of the allowed IDs (1 to 13, 17, 19 to 23)",
          })
          .refine((id) => Object.hasOwn(platformTypes, id), {
            error: "must be one of the allowed IDs (1 to 13, 17, 19 to 23)",
          }),
      }),
    }),
    output: () => ({ account_platform: accountPlatform() }),
  }),
  features: endpoint({
    summary: "List features and whether they are on",
    ...route("GET", featuresPath),
    effect: "read",
    output: () => featureList(),
  }),
  setFeature: endpoint({
    summary: "Turn a feature on or off",
    overwrites: { question: "Change the feature {feature}" },
    ...route("PUT", featuresPath),
    effect: "repeatable",
    input: () => ({
      feature: z.enum(features, { error: `must be one of ${features.join(", ")}` }),
      enabled: shape.boolean,
    }),
    output: () => featureList(),
  }),
  settings: endpoint({
    summary: "Show the account's settings",
    ...route("GET", settingsPath),
    effect: "read",
    output: () => accountSettings(),
  }),
  set: endpoint({
    summary: "Change the account's settings",
    ...route("PUT", settingsPath),
    effect: "repeatable",
    overwrites: { question: "Change the settings of the account" },
    input: () =>
      z
        .object({
          /** An empty name removes it. */
          name: visibleLine(maxStoreName).optional(),
          bottom_lines_delay: shape.count
            .refine((seconds) => seconds <= maxDelay, { error: `must be at most ${maxDelay} seconds` })
            .optional(),
          published_reviews: z
            .enum(publishedReviews, { error: `must be one of ${publishedReviews.join(", ")}` })
            .optional(),
          /** How long emails stay, such as `90d`; `forever` removes the limit. */
          retain_emails: retention().optional(),
          /** How long webhook deliveries stay. */
          retain_webhooks: retention().optional(),
        })
        .refine((settings) => Object.values(settings).some((value) => value !== undefined), {
          error:
            "contains no setting: set name, bottom_lines_delay, published_reviews, retain_emails, or retain_webhooks",
        }),
    output: () => accountSettings(),
  }),
};

export const tokens = {
  create: endpoint({
    summary: "Issue a utoken",
    returnsSecret: true,
    secretFields: ["client_secret"],
    needsSecret: true,
    ...route("POST", "/oauth/token"),
    auth: "open",
    effect: "repeatable",
    input: () => ({ client_id: shape.reference, client_secret: z.string(), grant_type: z.string() }),
    output: () => ({ access_token: z.string(), token_type: z.string() }),
    reply: bare,
    errorForm: "oauth",
  }),
};

export const users = {
  create: endpoint({
    summary: "Create a user and its account",
    publicKind: "sign-ups",
    returnsSecret: true,
    secretFields: ["user.password", "user.invitation_code"],
    ...route("POST", "/users"),
    auth: "open",
    effect: "once",
    input: () => ({
      user: z.object({
        email: shape.email,
        display_name: shape.name,
        password: shape.name,
        url: shape.url,
        /** An invitation by the operator. Needed only if sign-up is closed. */
        invitation_code: z.string().max(100).optional(),
      }),
    }),
    output: () => ({
      user_id: z.number().int(),
      token: z.string(),
      app_key: z.string(),
      secret: z.string(),
    }),
  }),
  signIn: endpoint({
    summary: "Create a sign-in URL for the account's owner",
    returnsSecret: true,
    secretFields: ["secret"],
    needsSecret: true,
    ...route("GET", "/users/b2blogin.json"),
    auth: "account",
    effect: "read",
    input: () => ({ secret: z.string() }),
    output: () => ({ code: z.string(), signin_url: z.string() }),
  }),
  signedIn: endpoint({
    summary: "Show the account that a sign-in code belongs to",
    ...route("GET", `${extensionPrefix}/sign_in/{code}`),
    htmlPaths: [`${extensionPrefix}/admin/{code}`],
    auth: "open",
    effect: "read",
    input: () => ({ code: z.string().max(2_048) }),
    output: () => ({
      /** Null if the code is expired or invalid. */
      account: z
        .object({ app_key: z.string(), display_name: z.string().nullable(), email: z.string().nullable() })
        .nullable(),
    }),
  }),
  get: endpoint({
    summary: "Get a user's profile",
    ...route("GET", "/users/{user_id}", "/users/{user_id}.json"),
    auth: "open",
    effect: "read",
    caching: cacheLifetimes.content,
    input: () => ({ user_id: shape.rowId }),
    output: () => ({
      user: z.object({
        id: z.number().int(),
        slug: z.string(),
        score: z.number().int(),
        display_name: z.string(),
        bio: z.string().nullable(),
        social_image: z.string().nullable(),
      }),
    }),
  }),
};
