import { type Feature, ServiceError } from "../contract/index.ts";
import { accountOf, type HandlerContext } from "./handler.ts";

/**
 * Refuses a call whose feature the account has switched off.
 * Assumed: every feature is on for a new account; a stored row only says otherwise.
 * @throws ServiceError `featureDisabled`
 */
export async function requireFeature(context: HandlerContext, feature: Feature): Promise<void> {
  const said = await context.transaction
    .selectFrom("account_features")
    .select("enabled")
    .where("account_id", "=", accountOf(context).id)
    .where("feature", "=", feature)
    .executeTakeFirst();
  if (said?.enabled === 0) throw new ServiceError("featureDisabled", `feature ${feature} is disabled`);
}
