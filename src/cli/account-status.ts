import type { Profile } from "../config/profile.ts";
import type { KeptToken } from "../config/token-file.ts";
import type { Connection } from "./connection.ts";
import type { Context } from "./context.ts";
import { exitStatus } from "./exit-status.ts";
import { describeFailure } from "./failure.ts";

/** Which account a profile stands for, as scripts see it. */
export interface AccountStatus {
  readonly profile: string;
  readonly mode: Profile["mode"];
  readonly base_url: string | null;
  readonly app_key: string;
  readonly signed_in: boolean;
  readonly utoken_expires_at: string | null;
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

export function statusOf(profile: Profile, appKey: string, token: KeptToken | undefined): AccountStatus {
  return {
    profile: profile.name,
    mode: profile.mode,
    base_url: profile.mode === "remote" ? profile.baseUrl : null,
    app_key: appKey,
    signed_in: token !== undefined,
    utoken_expires_at: token ? new Date(token.expiresAtMs).toISOString() : null,
  };
}

/** A refusal is an answer to the question that is asked here; whatever else fails, fails. */
async function tryToken(connection: Connection): Promise<KeptToken | undefined> {
  try {
    return await connection.token();
  } catch (error) {
    if (describeFailure(error).status === exitStatus.notSignedIn) return undefined;
    throw error;
  }
}
