import { accountOf, type HandlerContext } from "../kernel/handler.ts";

/** What public answers say of an account. */
export interface AccountProfile {
  readonly id: number;
  /** The store's address; empty where it was never given. */
  readonly domain: string;
  readonly displayName: string;
}

/** What people know a store by: its name, else its address; empty where neither was ever given. */
export function storeNameOf({ displayName, domain }: AccountProfile): string {
  return displayName || domain;
}

/** Assumed: a store's address is that of its platform, else its owner's; its name is its owner's. */
export async function readAccountProfile(
  context: HandlerContext,
  accountId?: number,
): Promise<AccountProfile> {
  const id = accountId ?? accountOf(context).id;
  const found = await context.transaction
    .selectFrom("accounts")
    .leftJoin("account_platforms", "account_platforms.account_id", "accounts.id")
    .leftJoin("users", (join) =>
      join.onRef("users.account_id", "=", "accounts.id").on("users.kind", "=", "owner"),
    )
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
