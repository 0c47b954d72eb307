import type * as z from "zod";
import { requireSecret } from "./account-secret.ts";
import { type contract, extensionPrefix, signInLifetimeMs, recordNotFound } from "../../contract/index.ts";
import { createAccount } from "./first-account.ts";
import { accountOf, type HandlerContext, type Handlers } from "../kernel/handler.ts";
import { hashPassword } from "./passwords.ts";
import { personColumns, publicName } from "./shoppers.ts";
import { readClaim, signClaim } from "../kernel/signed-link.ts";
import { findFreeSlug } from "../kernel/slug.ts";
import { issueToken } from "./tokens.ts";

/** The claim kind of sign-in codes. */
const signInKind = "sign_in";

type NewUser = z.output<typeof contract.users.create.input>;

/** Hashes a new user's password. Hashing is slow, so it happens before the call takes the write lock. */
export async function hashNewPassword(
  { user }: NewUser,
  { random }: Pick<HandlerContext, "random">,
): Promise<NewUser> {
  return { user: { ...user, password: await hashPassword(user.password, random) } };
}

export const userHandlers: Handlers<typeof contract.users> = {
  /**
   * Creates an account and its user. The password must already be hashed.
   * Source: spec "Account and authentication". Assumed: `token` is a utoken, and counts among the account's hundred.
   */
  create: async ({ user }, context) => {
    const { transaction, nowMs, random } = context;
    const account = await createAccount(transaction, context);
    const { id: user_id } = await transaction
      .insertInto("users")
      .values({
        account_id: account.id,
        email: user.email,
        display_name: user.display_name,
        password_hash: user.password,
        url: user.url,
        slug: await findFreeSlug(transaction, user.display_name, random),
        created_at: nowMs,
      })
      .returning("id")
      .executeTakeFirstOrThrow();
    const token = await issueToken(transaction, account.id, { nowMs, random });
    return { user_id, token, app_key: account.appKey, secret: account.secret };
  },

  /**
   * Creates a sign-in URL for the account's owner, valid for five minutes.
   * @throws ServiceError `unauthorized` if the secret is wrong
   * Source: spec "Account and authentication". Assumed: the code is opaque and can be used repeatedly until it expires.
   */
  signIn: async ({ secret }, context) => {
    const { sealer, nowMs, publicUrl } = context;
    const { id } = accountOf(context);
    await requireSecret(secret, context);
    const claim = { kind: signInKind, id, accountId: id, expiresAtMs: nowMs + signInLifetimeMs };
    const code = signClaim(claim, sealer);
    return { code, signin_url: `${publicUrl}${extensionPrefix}/admin/${code}` };
  },

  signedIn: async ({ code }, { transaction, sealer, nowMs }) => {
    const claim = readClaim(code, [signInKind], { sealer, nowMs });
    if (!claim) return { account: null };
    const found = await transaction
      .selectFrom("accounts")
      .leftJoin("users", (join) =>
        join.onRef("users.account_id", "=", "accounts.id").on("users.kind", "=", "owner"),
      )
      .select(["accounts.app_key", "users.display_name", "users.email"])
      .where("accounts.id", "=", claim.accountId)
      .orderBy("users.id")
      .executeTakeFirst();
    return { account: found ?? null };
  },

  get: async ({ user_id }, { transaction }) => {
    const found = await transaction
      .selectFrom("users")
      .select(personColumns)
      .where("id", "=", user_id)
      .executeTakeFirst();
    if (!found) throw recordNotFound("User", "id", user_id);
    const { id, slug, score, bio, social_image } = found;
    return { user: { id, slug, score, display_name: publicName(found), bio, social_image } };
  },
};
