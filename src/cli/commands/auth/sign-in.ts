import { readVariable } from "../../../config/environment.ts";
import { UserError } from "../../../config/user-error.ts";
import { hasAdHocProfile, type RemoteProfile, secretSources } from "../../../config/profile.ts";
import { parseNewProfileName } from "../../../config/profile-name.ts";
import { findStored, isDatabase, readProfiles, type StoredProfiles } from "../../../config/profile-store.ts";
import { saveProfile } from "../../../config/profile-editor.ts";
import type { SecretPlace } from "../../../config/secret-store.ts";
import { type AccountStatus, statusOf } from "./account-status.ts";
import type { Context } from "../../program/context.ts";
import {
  type GivenAccount,
  missingSecret,
  readAccountSecret,
  readAccountTarget,
} from "../profile/prompts.ts";
import { tellPlace } from "./secret-format.ts";

export interface LoginRequest extends GivenAccount {
  /** As it was, where absent. */
  readonly isLive?: boolean | undefined;
  /** Whether a person is asked for what is stored as well. */
  readonly asksAll?: boolean;
}

/** Which account was signed in to, and where its secret is kept. */
export interface SignedIn extends AccountStatus {
  readonly secret_in: SecretPlace;
}

const usualName = "default";

/**
 * Checks credentials by obtaining a utoken with them, then remembers them under the profile's name.
 * @throws UserError `usage`; ServiceError where they are refused, or the service does not answer
 */
export async function logIn(context: Context, request: LoginRequest): Promise<SignedIn> {
  const sources = await context.profileSources();
  const { paths } = sources;
  const stored = await readProfiles(paths.configFolder);
  const name = findName(context, request, stored);
  const known = findStored(stored, name);
  if (known && isDatabase(known)) {
    throw new UserError(
      "usage",
      `the profile ${name} is a database of the embedded engine: there is nothing to sign in to`,
      `Name another with --profile, or take it away: starpost profile remove ${name}.`,
    );
  }
  const target = await readAccountTarget(context, request, { known, asksAll: request.asksAll ?? false });
  const secret = await readAccountSecret(context, request, target);
  if (secret === undefined) throw missingSecret();
  const id = known?.id ?? context.io.random(8).toString("hex");
  const isLive = request.isLive ?? known?.live === true;
  const profile: RemoteProfile = {
    name,
    isLive,
    mode: "remote",
    baseUrl: target.base_url,
    appKey: target.app_key,
    tokenMark: id,
    readSecret: async () => secret,
  };
  const host = await context.host();
  const { openConnection } = await context.io.loadApp();
  const connection = await openConnection({ ...host, profile });
  try {
    const token = await connection.renewToken();
    const wanted = { name, id, target, isLive, secret, becomesCurrent: true };
    const kept = await saveProfile({ ...secretSources(sources), paths }, wanted);
    context.messages.info(
      `Signed in to ${target.base_url} as ${target.app_key}. The profile ${name} is now the current one.`,
    );
    await tellPlace(context, kept ?? { place: "file" });
    tellOverride(context, name);
    return { ...statusOf(profile, target.app_key, token), secret_in: kept?.place ?? "file" };
  } finally {
    await connection.close();
  }
}

/** Says what comes before the current profile here and now. */
export function tellOverride({ io: { env }, messages }: Context, name: string): void {
  const asked = readVariable(env, "STARPOST_PROFILE");
  if (hasAdHocProfile(env)) {
    messages.warn("STARPOST_BASE_URL, STARPOST_APP_KEY and STARPOST_SECRET are set, and come before it.");
  } else if (asked !== undefined && asked !== name) {
    messages.warn(`STARPOST_PROFILE is ${asked}, and comes before it.`);
  }
}

/**
 * Whose login it is. Who names neither a profile nor an account signs in to the current one again.
 * @throws UserError `usage`
 */
function findName({ io, globals }: Context, given: LoginRequest, stored: StoredProfiles): string {
  const asked = globals.profile ?? readVariable(io.env, "STARPOST_PROFILE");
  if (asked !== undefined) return parseNewProfileName(asked);
  const isOther = given.baseUrl !== undefined || given.appKey !== undefined || hasAdHocProfile(io.env);
  const current = isOther || stored.current === undefined ? undefined : findStored(stored, stored.current);
  return current && !isDatabase(current) ? (stored.current ?? usualName) : usualName;
}
