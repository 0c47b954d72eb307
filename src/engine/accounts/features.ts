import { type Feature, features, ServiceError } from "../../contract/index.ts";
import { selectAccountRows } from "../kernel/account-rows.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";

/** Assumed: a new account has every feature except `trusted_vendor`. A stored row overrides the default. */
const defaults: Readonly<Record<Feature, boolean>> = {
  dynamic_coupons: true,
  questions_and_answers: true,
  trusted_vendor: false,
  unsubscribers: true,
};

/**
 * Checks that a feature is on for the call's account.
 * @throws ServiceError `featureDisabled`
 */
export async function requireFeature(context: HandlerContext, feature: Feature): Promise<void> {
  const stored = await selectAccountRows("account_features", accountOf(context).id, context.transaction)
    .select("enabled")
    .where("feature", "=", feature)
    .executeTakeFirst();
  if (stored ? stored.enabled === 0 : !defaults[feature]) {
    throw new ServiceError("featureDisabled", `feature ${feature} is disabled`);
  }
}

export async function listFeatures(context: HandlerContext): Promise<{ features: Record<string, boolean> }> {
  const rows = await selectAccountRows("account_features", accountOf(context).id, context.transaction)
    .select(["feature", "enabled"])
    .execute();
  const stored = new Map(rows.map(({ feature, enabled }) => [feature, enabled === 1]));
  const entries = features.map((name) => [name, stored.get(name) ?? defaults[name]]);
  return { features: Object.fromEntries(entries) as Record<string, boolean> };
}

/** Turns a feature on or off. Returns all features. */
export async function setFeature(feature: Feature, isOn: boolean, context: HandlerContext) {
  const enabled = Number(isOn);
  await context.transaction
    .insertInto("account_features")
    .values({ account_id: accountOf(context).id, feature, enabled })
    .onConflict((conflict) => conflict.columns(["account_id", "feature"]).doUpdateSet({ enabled }))
    .execute();
  return listFeatures(context);
}
