import type { Kysely } from "kysely";
import { type contract, ServiceError, utokenLimits } from "../../contract/index.ts";
import type { Tables } from "../../storage/tables.ts";
import { deleteAccountRows, selectAccountRows } from "../kernel/account-rows.ts";
import { unknownAccount } from "../kernel/authenticate.ts";
import { createKey, hashToken, isSameSecret } from "../kernel/credentials.ts";
import { type Handlers, operation, type RandomBytes } from "../kernel/handler.ts";

export const tokenHandlers: Handlers<typeof contract.tokens> = {
  /**
   * Issues a utoken valid for 14 days. If the account already has 100, the oldest is revoked.
   * @returns `{ access_token: string, token_type: "bearer" }`
   * @throws ServiceError `unsupportedGrant`, `recordNotFound`, `invalidClient`, in this order
   * Source: spec "Authentication" 2–3. Assumed: an unknown client_id is `recordNotFound`, a wrong secret `invalidClient`.
   */
  create: operation("tokens.create", {
    owner: { appKey: "client_id" },
    run: async ({ client_id, client_secret, grant_type }, { transaction, nowMs, random, sealer }) => {
      if (grant_type !== "client_credentials") {
        throw new ServiceError("unsupportedGrant", "grant_type must be client_credentials");
      }
      const account = await transaction
        .selectFrom("accounts")
        .select(["id", "secret_sealed"])
        .where("app_key", "=", client_id)
        .executeTakeFirst();
      if (!account) throw unknownAccount(client_id);
      if (!isSameSecret(client_secret, sealer.open(account.secret_sealed))) {
        throw new ServiceError("invalidClient", "invalid client secret");
      }
      const access_token = await issueToken(transaction, account.id, { nowMs, random });
      return { access_token, token_type: "bearer" };
    },
  }),
};

/**
 * Stores a new utoken for an account, and deletes expired and surplus ones.
 * Assumed: tokens sort by creation time, then ID.
 */
export async function issueToken(
  db: Kysely<Tables>,
  accountId: number,
  { nowMs, random }: { readonly nowMs: number; readonly random: RandomBytes },
): Promise<string> {
  await deleteAccountRows("utokens", accountId, db).where("expires_at", "<=", nowMs).execute();
  const live = await selectAccountRows("utokens", accountId, db)
    .select("id")
    .orderBy("created_at")
    .orderBy("id")
    .execute();
  const surplus = live.slice(0, Math.max(0, live.length + 1 - utokenLimits.perAccount));
  if (surplus.length > 0) {
    const ids = surplus.map(({ id }) => id);
    await deleteAccountRows("utokens", accountId, db).where("id", "in", ids).execute();
  }
  const token = createKey(random);
  await db
    .insertInto("utokens")
    .values({
      account_id: accountId,
      token_hash: hashToken(token),
      created_at: nowMs,
      expires_at: nowMs + utokenLimits.lifetimeMs,
    })
    .execute();
  return token;
}
