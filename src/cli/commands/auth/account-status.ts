import type { Profile } from "../../../config/profile.ts";
import type { StoredToken } from "../../../config/token-file.ts";
import type { Connection } from "../../../app/ports.ts";
import type { Context } from "../../program/context.ts";
import { exitStatus } from "../../program/exit-status.ts";
import { describeFailure } from "../../program/errors/failure.ts";

export interface AccountStatus {
  readonly profile: string;
  readonly mode: Profile["mode"];
  readonly base_url: string | null;
  readonly app_key: string;
  readonly signed_in: boolean;
  readonly utoken_expires_at: string | null;
  /** Why the profile is not signed in; absent if it is. */
  readonly reason?: string;
}

/** Checks the credentials by obtaining a utoken, from the cache or from the service. */
export async function readAuthStatus(context: Context): Promise<AccountStatus> {
  const profile = await context.profile();
  return context.withConnection(async (connection) => statusOf(profile, connection.appKey, await tryToken(connection)));
}

/** @param found the token, or the reason why it is not available */
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

/** The expiry time of a token, or null for a token from the environment. */
export function describeExpiry({ expiresAtMs }: StoredToken): string | null {
  return expiresAtMs === undefined ? null : new Date(expiresAtMs).toISOString();
}

/** Returns the reason if the credentials were rejected; other errors are thrown. */
async function tryToken(connection: Connection): Promise<StoredToken | string> {
  try {
    const token = await connection.token();
    // Only the service knows whether a token from the environment is valid.
    if (token.expiresAtMs === undefined) await connection.service.unsubscribers.list({ count: 1 });
    return await connection.token();
  } catch (error) {
    const { status, message, hint } = describeFailure(error);
    if (status !== exitStatus.notSignedIn) throw error;
    return hint === undefined ? message : `${message}. ${hint}`;
  }
}
