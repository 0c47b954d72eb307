import { type Kysely, sql } from "kysely";
import {
  bottomLinesDelay,
  emailSettingDefaults,
  type EmailSettingName,
  emailSettingNames,
  type EmailSettings,
  type Feature,
  features,
  parseEmailSetting,
  ServiceError,
} from "../../contract/index.ts";
import { batchOf } from "../../storage/batch.ts";
import { createStatement } from "../../storage/statement.ts";
import type { Tables } from "../../storage/tables.ts";
import { deleteRows, findRow, findRows } from "../kernel/account-rows.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";

type Context = Pick<HandlerContext, "transaction" | "dialect" | "nowMs">;

const selectEmailSettings = createStatement<{ accountId: number }, { readonly name: string; readonly value: string }>(
  (slot) => sql`
    select name, value from account_settings
    where account_id = ${slot("accountId")} and name in (${sql.join(emailSettingNames.map((name) => sql.lit(name)))})`,
);

export async function readOwnEmailSettings(
  { transaction, dialect }: Pick<Context, "transaction" | "dialect">,
  accountId: number,
): Promise<Partial<EmailSettings>> {
  const { rows } = await selectEmailSettings(transaction, dialect, { accountId });
  const read = rows.flatMap(({ name, value }) => {
    // A value stored by another version may be outside this version's limits.
    const found = parseEmailSetting(name as EmailSettingName, JSON.parse(value));
    return "value" in found ? [[name, found.value] as const] : [];
  });
  return Object.fromEntries(read);
}

/** Reads an account's email settings, including defaults. */
export async function readEmailSettings(
  context: Pick<Context, "transaction" | "dialect">,
  accountId: number,
): Promise<EmailSettings> {
  return { ...emailSettingDefaults, ...(await readOwnEmailSettings(context, accountId)) };
}

/** Settings other than those for emails, by the name of the stored value. */
type OwnSettingName =
  | "brand"
  | "brand_logo"
  | "messages"
  | "published_reviews"
  | "review_rules"
  | "store_name"
  | "bottom_lines_delay"
  | "erasure_key"
  | "retain_emails"
  | "retain_webhooks"
  | "mail_events_secret"
  | "mail_events_public_key";

const selectSettings = createStatement<
  { accountId: number; names: string },
  { readonly name: string; readonly value: string }
>(
  (slot, dialect) => sql`
    select name, value from account_settings where account_id = ${slot("accountId")}
      and name in (select batch.name from ${batchOf<{ name: string }>({ name: "text" }, slot("names"), dialect)})`,
);

/** Reads values that the account has set. */
export async function readSettings<Name extends OwnSettingName>(
  names: readonly Name[],
  { transaction, dialect }: Pick<Context, "transaction" | "dialect">,
  accountId: number,
): Promise<Partial<Record<Name, unknown>>> {
  const listed = JSON.stringify(names.map((name) => [name]));
  const { rows } = await selectSettings(transaction, dialect, { accountId, names: listed });
  return Object.fromEntries(rows.map(({ name, value }) => [name, JSON.parse(value)])) as Partial<Record<Name, unknown>>;
}

/** Stores an account's value of a setting; null deletes it. */
export async function saveSetting(
  {
    name,
    value,
  }: { readonly name: EmailSettingName | OwnSettingName; readonly value: string | number | boolean | null },
  { transaction, nowMs }: { readonly transaction: Kysely<Tables>; readonly nowMs: number },
  account_id: number,
): Promise<void> {
  if (value === null) {
    await deleteRows("account_settings", { account_id, name }, { transaction });
    return;
  }
  const columns = { value: JSON.stringify(value), updated_at: nowMs };
  await transaction
    .insertInto("account_settings")
    .values({ account_id, name, ...columns })
    .onConflict((conflict) => conflict.columns(["account_id", "name"]).doUpdateSet(columns))
    .execute();
}

/** Reads the delay of the bottom lines of all products in milliseconds: this process's, or else the account's. */
export async function readBottomLinesDelay(
  context: Pick<HandlerContext, "transaction" | "dialect" | "bottomLinesDelayMs">,
  accountId: number,
): Promise<number> {
  if (context.bottomLinesDelayMs !== undefined) return context.bottomLinesDelayMs;
  const { bottom_lines_delay: seconds } = await readSettings(["bottom_lines_delay"], context, accountId);
  return typeof seconds === "number" ? seconds * 1_000 : bottomLinesDelay.defaultMs;
}

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
  if (!(await hasFeature(context, feature))) {
    throw new ServiceError("featureDisabled", `feature ${feature} is disabled`);
  }
}

/** Whether a feature is on for the call's account. */
export async function hasFeature(context: HandlerContext, feature: Feature): Promise<boolean> {
  const stored = await findRow("account_features", ["enabled"], { feature }, context);
  return stored ? stored.enabled !== 0 : defaults[feature];
}

export async function listFeatures(context: HandlerContext): Promise<{ features: Record<string, boolean> }> {
  const rows = await findRows("account_features", ["feature", "enabled"], {}, context);
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
