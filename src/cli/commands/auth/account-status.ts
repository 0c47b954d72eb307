import type { Profile } from "../../../config/profile.ts";
import type { StoredToken } from "../../../config/token-file.ts";
import type { Connection } from "../../../app/ports.ts";
import type { Context } from "../../program/context.ts";
import { exitStatus } from "../../program/exit-status.ts";
import { describeFailure } from "../../program/errors/failure.ts";
import { ServiceError } from "../../../contract/errors.ts";
import type { OutputOf } from "../../../service/transport.ts";

export interface AccountStatus {
  readonly profile: string;
  readonly mode: Profile["mode"];
  readonly base_url: string | null;
  readonly app_key: string;
  readonly signed_in: boolean;
  /** What the credentials permit; absent if unknown. */
  readonly role?: AccountRole;
  readonly utoken_expires_at: string | null;
  /** Why the profile is not signed in; absent if it is. */
  readonly reason?: string;
}

export type AccountRole = OutputOf<"credentials.current">["role"];

/** Checks the credentials by obtaining a utoken, from the cache or from the service. */
export async function readAuthStatus(context: Context): Promise<AccountStatus> {
  const profile = await context.profile();
  return context.withConnection(async (connection) => statusOf(profile, connection.appKey, await tryToken(connection)));
}

/** @param found the token, with its role if that is known, or the reason why it is not available */
export function statusOf(
  profile: Profile,
  appKey: string,
  found: (StoredToken & { readonly role?: AccountRole | undefined }) | string,
): AccountStatus {
  const token = typeof found === "string" ? undefined : found;
  return {
    profile: profile.name,
    mode: profile.mode,
    base_url: profile.mode === "remote" ? profile.baseUrl : null,
    app_key: appKey,
    signed_in: token !== undefined,
    ...(token?.role !== undefined && { role: token.role }),
    utoken_expires_at: token ? describeExpiry(token) : null,
    ...(typeof found === "string" && { reason: found }),
  };
}

/** The expiry time of a token, or null for a token from the environment. */
export function describeExpiry({ expiresAtMs }: StoredToken): string | null {
  return expiresAtMs === undefined ? null : new Date(expiresAtMs).toISOString();
}

/** Returns the reason if the credentials were rejected; other errors are thrown. */
async function tryToken(connection: Connection) {
  try {
    const token = await connection.token();
    // Only the service knows whether a token from the environment is valid.
    if (token.expiresAtMs === undefined) await connection.service.unsubscribers.list({ count: 1 });
    const role = await readRole(connection);
    return { ...(await connection.token()), role };
  } catch (error) {
    const { status, message, hint } = describeFailure(error);
    if (status !== exitStatus.notSignedIn) throw error;
    return hint === undefined ? message : `${message}. ${hint}`;
  }
}

/** How long to wait for the role, in milliseconds. The status does not depend on it. */
const roleWithinMs = 5_000;

/**
 * Reads the role of the token. Services without roles, and those that cannot be reached, do not state it.
 * @throws ServiceError `invalidClient` if the credential was revoked
 */
async function readRole({ service }: Connection): Promise<AccountRole | undefined> {
  const signal = AbortSignal.timeout(roleWithinMs);
  try {
    return (await service.credentials.current({}, { signal, maxAttempts: 1 })).role;
  } catch (error) {
    const isUnknown = signal.aborted || (error instanceof ServiceError && error.kind !== "invalidClient");
    if (!isUnknown) throw error;
    return undefined;
  }
}
