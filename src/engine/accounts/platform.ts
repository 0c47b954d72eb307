import {
  type contract,
  platformTypes,
  type PublishedReviews,
  publishedReviews,
  reviewHolds,
} from "../../contract/index.ts";
import { listFeatures, readBottomLinesDelay, readSettings, saveSetting, setFeature } from "./account-settings.ts";
import { createKey } from "../kernel/credentials.ts";
import { readStoreName, saveStoreName } from "./account-profile.ts";
import { accountOf, type HandlerContext, type Handlers, operation, type Preparation } from "../kernel/handler.ts";

/** Assumed: there is one plan, and platforms are free. */
const plan = { name: "free", billable: false } as const;

/** Saves the account's setting of which reviews are published, and publishes and hides existing reviews accordingly. */
type ChangePublication = (setting: PublishedReviews | undefined) => Preparation;

export const createAccountHandlers = (changePublication: ChangePublication): Handlers<typeof contract.account> => ({
  /** Assumed: `id` is the account's; `shop_token` is created once and does not change with the platform. */
  setPlatform: async ({ account_platform: { shop_domain, platform_type_id } }, context) => {
    const { transaction, nowMs, random } = context;
    const { id } = accountOf(context);
    const typeId = Number(platform_type_id);
    const { shop_token } = await transaction
      .insertInto("account_platforms")
      .values({
        account_id: id,
        platform_type_id: typeId,
        shop_domain,
        shop_token: createKey(random),
        updated_at: nowMs,
      })
      .onConflict((conflict) =>
        conflict.columns(["account_id"]).doUpdateSet({ platform_type_id: typeId, shop_domain, updated_at: nowMs }),
      )
      .returning("shop_token")
      .executeTakeFirstOrThrow();
    const name = platformTypes[platform_type_id] ?? "general";
    return {
      account_platform: {
        id,
        shop_token,
        shop_domain,
        shop_api_url: null,
        plan_name: plan.name,
        platform_type: { id: typeId, name, description: null, billable: plan.billable },
        deleted: false,
        shop_user_name: null,
      },
    };
  },

  features: (_input, context) => listFeatures(context),

  settings: (_input, context) => readAccountSettings(context, accountOf(context).id),

  /** Changes only the settings that the call names. */
  set: operation("account.set", {
    before: ({ published_reviews }) => changePublication(published_reviews),
    run: async ({ name, bottom_lines_delay: value, retain_emails, retain_webhooks }, context) => {
      if (value !== undefined) {
        await saveSetting({ name: "bottom_lines_delay", value }, context, accountOf(context).id);
      }
      for (const [setting, days] of Object.entries({ retain_emails, retain_webhooks })) {
        if (days === undefined) continue;
        const change = { name: setting as "retain_emails" | "retain_webhooks", value: days === 0 ? null : days };
        await saveSetting(change, context, accountOf(context).id);
      }
      if (name !== undefined) await saveStoreName(name, context);
      return readAccountSettings(context, accountOf(context).id);
    },
  }),

  setFeature: ({ feature, enabled }, context) => setFeature(feature, enabled, context),
});

export async function readAccountSettings(
  context: Pick<HandlerContext, "transaction" | "dialect" | "hasPublicLimits">,
  id: number,
) {
  const name = await readStoreName(context, id);
  // The account's own delay, even if a flag of the server overrides it.
  const { transaction, dialect } = context;
  const delayMs = await readBottomLinesDelay({ transaction, dialect }, id);
  const {
    published_reviews: stored,
    retain_emails,
    retain_webhooks,
  } = await readSettings(["published_reviews", "retain_emails", "retain_webhooks"], context, id);
  const published_reviews = publishedReviews.find((value) => value === stored) ?? "all";
  const retention = {
    ...(typeof retain_emails === "number" && { retain_emails }),
    ...(typeof retain_webhooks === "number" && { retain_webhooks }),
  };
  const anonymous_reviews_per_day = context.hasPublicLimits === true ? reviewHolds.maxAnonymousPerDay : null;
  return {
    settings: {
      name,
      bottom_lines_delay: delayMs / 1_000,
      published_reviews,
      anonymous_reviews_per_day,
      ...retention,
    },
  };
}
