import { type contract, ServiceError } from "../contract/index.ts";
import { createAccount } from "./first-account.ts";
import type { Handlers } from "./handler.ts";
import { hashPassword } from "./passwords.ts";
import { findFreeSlug } from "./slug.ts";
import { issueToken } from "./tokens.ts";

export const userHandlers: Handlers<typeof contract.users> = {
  /**
   * Creates an account and its user.
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
        password_hash: await hashPassword(user.password, random),
        url: user.url,
        slug: await findFreeSlug(transaction, user.display_name, random),
        created_at: nowMs,
      })
      .returning("id")
      .executeTakeFirstOrThrow();
    const token = await issueToken(transaction, account.id, { nowMs, random });
    return { user_id, token, app_key: account.appKey, secret: account.secret };
  },

  signIn: () => Promise.reject(new Error("not answered yet")),
  signedIn: () => Promise.reject(new Error("not answered yet")),

  get: async ({ user_id }, { transaction }) => {
    const user = await transaction
      .selectFrom("users")
      .select(["id", "slug", "score", "display_name", "bio", "social_image"])
      .where("id", "=", user_id)
      .executeTakeFirst();
    if (!user) throw new ServiceError("recordNotFound", `Couldn't find User with id = ${user_id}`);
    return { user };
  },
};
