import type { Kysely } from "kysely";
import { type contract, ServiceError, utokenLimits } from "../../contract/index.ts";
import type { Tables } from "../../storage/tables.ts";
import { deleteAccountRows, selectAccountRows, updateAccountRows } from "../kernel/account-rows.ts";
import { unknownAccount } from "../kernel/authenticate.ts";
import { createKey, hashToken, isSameSecret } from "../kernel/credentials.ts";
import { type HandlerContext, type Handlers, operation, type RandomBytes } from "../kernel/handler.ts";

export const tokenHandlers: Handlers<typeof contract.tokens> = {
  /**
   * Issues a utoken valid for 14 days. If the account already has 100, the oldest is revoked.
   * @returns `{ access_token: string, token_type: "bearer" }`
   * @throws ServiceError `unsupportedGrant`, `recordNotFound`, `invalidClient`, in this order
   * Source: spec "Authentication" 2–3. Assumed: the secret may be that of a credential, whose role the token gets; an unknown client_id is `recordNotFound`, a wrong secret `invalidClient`.
   */
  create: operation("tokens.create", {
    owner: { appKey: "client_id" },
    run: async ({ client_id, client_secret, grant_type }, context) => {
      const { transaction, nowMs, random, sealer } = context;
      if (grant_type !== "client_credentials") {
        throw new ServiceError("unsupportedGrant", "grant_type must be client_credentials");
      }
      const account = await transaction
        .selectFrom("accounts")
        .select(["id", "secret_sealed"])
        .where("app_key", "=", client_id)
        .executeTakeFirst();
      if (!account) throw unknownAccount(client_id);
      const isOwnSecret = isSameSecret(client_secret, sealer.open(account.secret_sealed));
      const credentialId = isOwnSecret ? undefined : await useCredential(client_secret, account.id, context);
      const access_token = await issueToken(transaction, account.id, { nowMs, random, credentialId });
      return { access_token, token_type: "bearer" };
    },
  }),
};

/** Finds the credential of a secret. @throws ServiceError `invalidClient` */
async function useCredential(
  secret: string,
  accountId: number,
  { transaction, nowMs }: Pick<HandlerContext, "transaction" | "nowMs">,
): Promise<number> {
  const hash = hashToken(secret);
  const all = await selectAccountRows("credentials", accountId, transaction).select(["id", "secret_hash"]).execute();
  const found = all.find(({ secret_hash }) => isSameSecret(secret_hash, hash));
  if (!found) throw new ServiceError("invalidClient", "invalid client secret");
  await updateAccountRows("credentials", accountId, transaction)
    .set({ last_used_at: nowMs })
    .where("id", "=", found.id)
    .execute();
  return found.id;
}

/**
 * Stores a new utoken for an account, and deletes expired and surplus ones.
 * Assumed: tokens sort by creation time, then ID.
 */
export async function issueToken(
  db: Kysely<Tables>,
  accountId: number,
  {
    nowMs,
    random,
    credentialId,
  }: { readonly nowMs: number; readonly random: RandomBytes; readonly credentialId?: number | undefined },
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
      credential_id: credentialId ?? null,
    })
    .execute();
  return token;
}
