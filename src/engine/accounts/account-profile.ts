import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { shortenName } from "./shoppers.ts";
import { readSettings, saveSetting } from "./account-settings.ts";

export interface AccountProfile {
  readonly id: number;
  readonly appKey: string;
  /** The store's URL; empty if unknown. */
  readonly domain: string;
  /** The store's name; empty if unknown. */
  readonly displayName: string;
  /** The same, for anyone: an owner's name is shortened. */
  readonly publicName: string;
}

/**
 * Assumed: the store's URL is the one of its platform, or else of its owner; its name is the account's setting, or else
 * its owner's name. A URL never replaces the name.
 */
export async function readAccountProfile(context: HandlerContext, accountId?: number): Promise<AccountProfile> {
  const id = accountId ?? accountOf(context).id;
  const found = await context.transaction
    .selectFrom("accounts")
    .leftJoin("account_platforms", (join) => join.on("account_platforms.account_id", "=", id))
    .leftJoin("users", (join) => join.on("users.account_id", "=", id).on("users.kind", "=", "owner"))
    .select(["accounts.app_key", "account_platforms.shop_domain", "users.url", "users.display_name"])
    .where("accounts.id", "=", id)
    .orderBy("users.id")
    .limit(1)
    .executeTakeFirst();
  const name = await readStoreName(context, id);
  const ownerName = found?.display_name?.trim() ?? "";
  return {
    id,
    appKey: found?.app_key ?? "",
    domain: found?.shop_domain ?? found?.url ?? "",
    displayName: name ?? ownerName,
    publicName: name ?? shortenName(ownerName),
  };
}

/** Reads the store's name as set for the account. */
export async function readStoreName(
  context: Pick<HandlerContext, "transaction">,
  accountId: number,
): Promise<string | null> {
  const { store_name: name } = await readSettings(["store_name"], context, accountId);
  return typeof name === "string" ? name : null;
}

/** Sets the store's name; an empty one removes it. */
export async function saveStoreName(name: string, context: HandlerContext): Promise<void> {
  await saveSetting({ name: "store_name", value: name === "" ? null : name }, context, accountOf(context).id);
}

/** Reads the app key of an account, for links in emails. */
export async function readAppKey(
  { transaction }: Pick<HandlerContext, "transaction">,
  accountId: number,
): Promise<string> {
  const account = transaction.selectFrom("accounts").select("app_key").where("id", "=", accountId);
  return (await account.executeTakeFirstOrThrow()).app_key;
}
