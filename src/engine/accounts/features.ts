import { type Feature, features, ServiceError } from "../../contract/index.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";

/** Assumed: a new account has every feature on but `trusted_vendor`; a stored row says otherwise. */
const isOnAtFirst: Readonly<Record<Feature, boolean>> = {
  dynamic_coupons: true,
  questions_and_answers: true,
  trusted_vendor: false,
  unsubscribers: true,
};

/**
 * Refuses a call whose feature the account does not have on.
 * @throws ServiceError `featureDisabled`
 */
export async function requireFeature(context: HandlerContext, feature: Feature): Promise<void> {
  const said = await context.transaction
    .selectFrom("account_features")
    .select("enabled")
    .where("account_id", "=", accountOf(context).id)
    .where("feature", "=", feature)
    .executeTakeFirst();
  if (said ? said.enabled === 0 : !isOnAtFirst[feature]) {
    throw new ServiceError("featureDisabled", `feature ${feature} is disabled`);
  }
}

/** Tells of every feature whether the account has it on. */
export async function listFeatures(context: HandlerContext): Promise<{ features: Record<string, boolean> }> {
  const said = await context.transaction
    .selectFrom("account_features")
    .select(["feature", "enabled"])
    .where("account_id", "=", accountOf(context).id)
    .execute();
  const stored = new Map(said.map(({ feature, enabled }) => [feature, enabled === 1]));
  const entries = features.map((name) => [name, stored.get(name) ?? isOnAtFirst[name]]);
  return { features: Object.fromEntries(entries) as Record<string, boolean> };
}

/** Switches a feature on or off, and tells of every feature. */
export async function setFeature(feature: Feature, isOn: boolean, context: HandlerContext) {
  const enabled = Number(isOn);
  await context.transaction
    .insertInto("account_features")
    .values({ account_id: accountOf(context).id, feature, enabled })
    .onConflict((conflict) => conflict.columns(["account_id", "feature"]).doUpdateSet({ enabled }))
    .execute();
  return listFeatures(context);
}
