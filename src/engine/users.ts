import type { Kysely } from "kysely";
import { type contract, ServiceError } from "../contract/index.ts";
import type { Tables } from "../storage/tables.ts";
import { createAccount } from "./first-account.ts";
import type { Handlers, RandomBytes } from "./handler.ts";
import { hashPassword } from "./passwords.ts";
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

/** Assumed: a slug is the display name in lower case with dashes, and a few random characters where that is taken. */
async function findFreeSlug(db: Kysely<Tables>, displayName: string, random: RandomBytes): Promise<string> {
  const base = toSlug(displayName);
  for (let slug = base; ; slug = `${base}-${random(4).toString("hex")}`) {
    const taken = await db.selectFrom("users").select("id").where("slug", "=", slug).executeTakeFirst();
    if (!taken) return slug;
  }
}

function toSlug(displayName: string): string {
  const plain = displayName
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase();
  const slug = plain.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "");
  return slug === "" ? "user" : slug;
}
