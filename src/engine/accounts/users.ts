import type * as z from "zod";
import { requireSecret } from "./account-secret.ts";
import { type contract, emailKeyOf, extensionPrefix, recordNotFound, signInLifetimeMs } from "../../contract/index.ts";
import { createAccount } from "./first-account.ts";
import { requireSignUp, useInvitation } from "./invitations.ts";
import { selectAccountRows } from "../kernel/account-rows.ts";
import { accountOf, type HandlerContext, type Handlers, operation, type RandomBytes } from "../kernel/handler.ts";
import { personColumns, toSummary } from "./shoppers.ts";
import { readClaim, signClaim } from "../kernel/signed-link.ts";
import { addPublicIds } from "../kernel/public-ids.ts";
import { findFreeSubdomain } from "../kernel/slug.ts";
import { issueToken } from "./tokens.ts";
import { scrypt, timingSafeEqual } from "node:crypto";

const signInKind = "sign_in";

export const userHandlers: Handlers<typeof contract.users> = {
  create: operation("users.create", {
    check: ({ user }, context) => requireSignUp(user.invitation_code, context),
    // Hashing is slow.
    prepare: async ({ user }, { random }) => ({ ...user, password: await hashPassword(user.password, random) }),
    run: createUser,
  }),

  /**
   * Creates a sign-in URL for the account's owner, valid for five minutes.
   * @throws ServiceError `unauthorized` if the secret is wrong
   * Source: spec "Account and authentication". Assumed: the code is opaque and can be used repeatedly until it expires.
   */
  signIn: operation("users.signIn", {
    check: ({ secret }, context) => requireSecret(secret, context),
    run: async ({ secret }, context) => {
      const { sealer, nowMs, publicUrl } = context;
      const { id } = accountOf(context);
      await requireSecret(secret, context);
      const claim = { kind: signInKind, id, accountId: id, expiresAtMs: nowMs + signInLifetimeMs };
      const code = signClaim(claim, sealer);
      return { code, signin_url: `${publicUrl}${extensionPrefix}/admin/${code}` };
    },
  }),

  signedIn: operation("users.signedIn", {
    owner: { claim: "code" },
    run: async ({ code }, { transaction, sealer, nowMs }) => {
      const claim = readClaim(code, [signInKind], { sealer, nowMs });
      if (!claim) return { account: null };
      const found = await transaction
        .selectFrom("accounts")
        .leftJoin("users", (join) => join.on("users.account_id", "=", claim.accountId).on("users.kind", "=", "owner"))
        .select(["accounts.app_key", "accounts.secret_changed_at", "users.display_name", "users.email"])
        .where("accounts.id", "=", claim.accountId)
        .orderBy("users.id")
        .executeTakeFirst();
      if (!found) return { account: null };
      const { secret_changed_at: changedAtMs, ...account } = found;
      const isRevoked = changedAtMs !== null && claim.expiresAtMs - signInLifetimeMs <= changedAtMs;
      return { account: isRevoked ? null : account };
    },
  }),

  /** Assumed: anyone may read any profile, so it shows no shopper's full name. An owner's name is that of the store. */
  get: operation("users.get", {
    owner: { kind: "user", field: "user_id" },
    run: async ({ user_id }, { transaction, ownerId }) => {
      if (ownerId === undefined) throw recordNotFound("User", "id", user_id);
      const found = await selectAccountRows("users", ownerId, transaction)
        .select(personColumns)
        .where("id", "=", user_id)
        .executeTakeFirst();
      if (!found) throw recordNotFound("User", "id", user_id);
      const { id, slug, display_name, score, bio, social_image } = toSummary(found);
      return { user: { id, slug, score, display_name, bio, social_image } };
    },
  }),
};

type NewUser = z.output<typeof contract.users.create.input>["user"];

/**
 * Creates an account and its user. The password must already be hashed.
 * @throws ServiceError `featureDisabled` if sign-up is closed and there is no valid invitation code
 * Source: spec "Account and authentication". Assumed: `token` is a utoken, and counts among the account's hundred.
 */
export async function createUser(user: NewUser, context: HandlerContext) {
  const { transaction, nowMs, random } = context;
  await useInvitation(user.invitation_code, context);
  const account = await createAccount(transaction, context);
  const { id: user_id } = await transaction
    .insertInto("users")
    .values({
      account_id: account.id,
      email: user.email,
      address_key: emailKeyOf(user.email),
      display_name: user.display_name,
      password_hash: user.password,
      url: user.url,
      slug: await findFreeSubdomain(user.display_name, account.id, context),
      created_at: nowMs,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  await addPublicIds("user", [user_id], account.id, context);
  const token = await issueToken(transaction, account.id, { nowMs, random });
  return { user_id, token, app_key: account.appKey, secret: account.secret };
}

const cost = { N: 16_384, r: 8, p: 1 } as const;
const saltBytes = 16;
const hashBytes = 32;

interface ScryptCost {
  readonly N: number;
  readonly r: number;
  readonly p: number;
}

/** Hashes a password as `scrypt$N$r$p$salt$hash`. The format includes the cost, so that it can be raised later. */
export async function hashPassword(password: string, random: RandomBytes): Promise<string> {
  const salt = random(saltBytes);
  const hash = await derive(password, salt, cost);
  const { N, r, p } = cost;
  return ["scrypt", N, r, p, salt.toString("base64url"), hash.toString("base64url")].join("$");
}

/** Whether `password` matches the hash. Returns false for hashes in another format. */
export async function isPassword(password: string, hashed: string): Promise<boolean> {
  const [form, N, r, p, salt, hash] = hashed.split("$");
  if (form !== "scrypt" || salt === undefined || hash === undefined) return false;
  const expected = Buffer.from(hash, "base64url");
  const stored = { N: Number(N), r: Number(r), p: Number(p) };
  const found = await derive(password, Buffer.from(salt, "base64url"), stored);
  return found.length === expected.length && timingSafeEqual(found, expected);
}

function derive(password: string, salt: Buffer, { N, r, p }: ScryptCost): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password.normalize("NFC"), salt, hashBytes, { N, r, p, maxmem: 256 * N * r }, (error, key) => {
      if (error) reject(error);
      else resolve(key);
    });
  });
}
