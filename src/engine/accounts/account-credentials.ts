import { type contract, maxCredentials, recordNotFound, type Role, ServiceError } from "../../contract/index.ts";
import type { Row } from "../../storage/tables.ts";
import { deleteAccountRows, findRows } from "../kernel/account-rows.ts";
import { createKey, hashToken } from "../kernel/credentials.ts";
import { accountOf, type Handlers, operation } from "../kernel/handler.ts";
import { iso } from "../kernel/times.ts";
import { requireSecret } from "./account-secret.ts";

const columns = ["id", "role", "name", "created_at", "last_used_at"] as const;

export const credentialHandlers: Handlers<typeof contract.credentials> = {
  /**
   * Creates a credential. Only a hash of its secret is stored.
   * @throws ServiceError `unauthorized` if the secret is not the account's own, `invalidParams`
   */
  create: operation("credentials.create", {
    check: ({ secret }, context) => requireSecret(secret, context),
    run: async ({ secret: ownSecret, role, name }, context) => {
      const { transaction, nowMs, random } = context;
      const { id: account_id, appKey } = accountOf(context);
      await requireSecret(ownSecret, context);
      const stored = await findRows("credentials", ["id"], {}, context);
      if (stored.length >= maxCredentials) {
        throw new ServiceError("invalidParams", `the account already has the maximum of ${maxCredentials} credentials`);
      }
      const secret = createKey(random);
      const added = await transaction
        .insertInto("credentials")
        .values({ account_id, role, name: name ?? null, secret_hash: hashToken(secret), created_at: nowMs })
        .returning(columns)
        .executeTakeFirstOrThrow();
      return { credential: { ...toCredential(added), app_key: appKey, secret } };
    },
  }),

  /** Assumed: credentials are listed in order of creation. */
  list: async (_input, context) => ({
    credentials: (await findRows("credentials", columns, {}, context, "id")).map(toCredential),
  }),

  current: async (_input, context) => ({ role: accountOf(context).role ?? "full" }),

  /** @throws ServiceError `recordNotFound` */
  revoke: async ({ credential_id }, context) => {
    const { id } = accountOf(context);
    const { transaction } = context;
    await deleteAccountRows("utokens", id, transaction).where("credential_id", "=", credential_id).execute();
    const credential = deleteAccountRows("credentials", id, transaction).where("id", "=", credential_id);
    if ((await credential.executeTakeFirst()).numDeletedRows > 0n) return {};
    throw recordNotFound("Credential", "id", credential_id);
  },
};

function toCredential({
  id,
  role,
  name,
  created_at,
  last_used_at,
}: Pick<Row<"credentials">, (typeof columns)[number]>) {
  return {
    id,
    role: role as Role,
    name,
    created_at: iso(created_at),
    last_used_at: last_used_at === null ? null : iso(last_used_at),
  };
}
