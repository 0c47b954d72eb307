import { ServiceError } from "../../contract/index.ts";
import { createKey, hashToken } from "../kernel/credentials.ts";
import type { HandlerContext } from "../kernel/handler.ts";

type Context = Pick<HandlerContext, "transaction" | "nowMs" | "isSignUpClosed">;

/** An invitation that has not been used. */
export interface Invitation {
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

/** Creates an invitation, and deletes expired ones. Its code is not stored and cannot be shown again. */
export async function createInvitation(
  lifetimeMs: number,
  { transaction, nowMs, random }: Pick<HandlerContext, "transaction" | "nowMs" | "random">,
): Promise<{ readonly code: string; readonly expiresAtMs: number }> {
  await transaction.deleteFrom("invitations").where("expires_at", "<=", nowMs).execute();
  const code = createKey(random);
  const expiresAtMs = nowMs + lifetimeMs;
  await transaction
    .insertInto("invitations")
    .values({ code_hash: hashToken(code), created_at: nowMs, expires_at: expiresAtMs })
    .execute();
  return { code, expiresAtMs };
}

/** Lists the invitations that can still be used, oldest first. */
export async function listInvitations({
  transaction,
  nowMs,
}: Pick<HandlerContext, "transaction" | "nowMs">): Promise<readonly Invitation[]> {
  const found = await transaction
    .selectFrom("invitations")
    .select(["created_at", "expires_at"])
    .where("expires_at", ">", nowMs)
    .orderBy("id")
    .execute();
  return found.map(({ created_at, expires_at }) => ({ createdAtMs: created_at, expiresAtMs: expires_at }));
}

/**
 * Checks that a person may create an account. Changes nothing.
 * @throws ServiceError `featureDisabled`
 */
export async function requireSignUp(code: string | undefined, context: Context): Promise<void> {
  const { isSignUpClosed, transaction, nowMs } = context;
  if (!isSignUpClosed) return;
  const found = await transaction
    .selectFrom("invitations")
    .select("id")
    .where("code_hash", "=", hashCode(code))
    .where("expires_at", ">", nowMs)
    .executeTakeFirst();
  if (!found) throw invalidInvitation();
}

/**
 * Uses up the invitation, if one is needed. Of simultaneous calls with the same code, one succeeds.
 * @throws ServiceError `featureDisabled`
 */
export async function useInvitation(code: string | undefined, context: Context): Promise<void> {
  const { isSignUpClosed, transaction, nowMs } = context;
  if (!isSignUpClosed) return;
  const { numDeletedRows } = await transaction
    .deleteFrom("invitations")
    .where("code_hash", "=", hashCode(code))
    .where("expires_at", ">", nowMs)
    .executeTakeFirst();
  if (numDeletedRows === 0n) throw invalidInvitation();
}

/** @throws ServiceError `featureDisabled` if there is no code */
function hashCode(code: string | undefined): string {
  if (code !== undefined) return hashToken(code);
  throw new ServiceError("featureDisabled", "sign-up is closed: an invitation code is needed");
}

function invalidInvitation(): ServiceError {
  return new ServiceError("featureDisabled", "the invitation code is invalid, expired, or already used");
}
