import type { Profile } from "../../../config/profile.ts";
import type { StoredToken } from "../../../config/token-file.ts";
import type { Connection } from "../../../app/ports.ts";
import type { Context } from "../../program/context.ts";
import { exitStatus } from "../../program/exit-status.ts";
import { describeFailure } from "../../program/errors/failure.ts";

/** Which account a profile stands for, as scripts see it. */
export interface AccountStatus {
  readonly profile: string;
  readonly mode: Profile["mode"];
  readonly base_url: string | null;
  readonly app_key: string;
  readonly signed_in: boolean;
  readonly utoken_expires_at: string | null;
  /** Why it is not signed in, in words; absent where it is. */
  readonly reason?: string;
}

/** Finds out by having a utoken: the kept one, or a new one from the service. */
export async function readAuthStatus(context: Context): Promise<AccountStatus> {
  const profile = await context.profile();
  const connection = await context.connect();
  try {
    return statusOf(profile, connection.appKey, await tryToken(connection));
  } finally {
    await connection.close();
  }
}

/** @param found the token, or why there is none */
export function statusOf(profile: Profile, appKey: string, found: StoredToken | string): AccountStatus {
  const token = typeof found === "string" ? undefined : found;
  return {
    profile: profile.name,
    mode: profile.mode,
    base_url: profile.mode === "remote" ? profile.baseUrl : null,
    app_key: appKey,
    signed_in: token !== undefined,
    utoken_expires_at: token ? describeExpiry(token) : null,
    ...(typeof found === "string" && { reason: found }),
  };
}

/** When a token ends; nothing of one that was given. */
export function describeExpiry({ expiresAtMs }: StoredToken): string | null {
  return expiresAtMs === undefined ? null : new Date(expiresAtMs).toISOString();
}

/** A refusal is an answer to the question that is asked here; whatever else fails, fails. */
async function tryToken(connection: Connection): Promise<StoredToken | string> {
  try {
    const token = await connection.token();
    // Nothing is known of a token that was given but what the service says of it.
    if (token.expiresAtMs === undefined) await connection.service.unsubscribers.list({ count: 1 });
    return await connection.token();
  } catch (error) {
    const { status, message, hint } = describeFailure(error);
    if (status !== exitStatus.notSignedIn) throw error;
    return hint === undefined ? message : `${message}. ${hint.charAt(0).toUpperCase()}${hint.slice(1)}`;
  }
}
