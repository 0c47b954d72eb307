import { accountOf, type HandlerContext } from "../kernel/handler.ts";

export interface AccountProfile {
  readonly id: number;
  /** The store's URL; empty if unknown. */
  readonly domain: string;
  readonly displayName: string;
}

/** The display name of a store: its name, or else its URL; empty if both are unknown. */
export function storeNameOf({ displayName, domain }: AccountProfile): string {
  return displayName || domain;
}

/** Assumed: the store's URL is the one of its platform, or else of its owner; its name is its owner's. */
export async function readAccountProfile(context: HandlerContext, accountId?: number): Promise<AccountProfile> {
  const id = accountId ?? accountOf(context).id;
  const found = await context.transaction
    .selectFrom("accounts")
    .leftJoin("account_platforms", "account_platforms.account_id", "accounts.id")
    .leftJoin("users", (join) => join.onRef("users.account_id", "=", "accounts.id").on("users.kind", "=", "owner"))
    .select(["account_platforms.shop_domain", "users.url", "users.display_name"])
    .where("accounts.id", "=", id)
    .orderBy("users.id")
    .limit(1)
    .executeTakeFirst();
  return {
    id,
    domain: found?.shop_domain ?? found?.url ?? "",
    displayName: found?.display_name ?? "",
  };
}
