import { readVariable } from "../../../config/environment.ts";
import { usageError } from "../../../config/user-error.ts";
import { hasAdHocProfile, type RemoteProfile, secretSources } from "../../../config/profile.ts";
import { parseNewProfileName } from "../../../config/profile-name.ts";
import { findStored, isDatabase, readProfiles, type StoredProfiles } from "../../../config/profile-store.ts";
import { saveProfile } from "../../../config/profile-editor.ts";
import { statusOf } from "./account-status.ts";
import type { Context } from "../../program/context.ts";
import { type AccountFlags, missingSecret, readAccountSecret, readAccountTarget } from "../profile/prompts.ts";
import { reportSecretPlace } from "./secret-format.ts";

const defaultName = "default";

/**
 * Checks credentials by obtaining a utoken, then saves them as a profile.
 * @param promptsAll whether stored values are prompted for as well
 * @returns the account, and where its secret is stored
 * @throws UserError `usage`; ServiceError if they are rejected or the service is unavailable
 */
export async function logIn(context: Context, flags: AccountFlags, promptsAll = false) {
  const sources = await context.profileSources();
  const { paths } = sources;
  const stored = await readProfiles(paths.configFolder);
  const name = findName(context, flags, stored);
  const known = findStored(stored, name);
  if (known && isDatabase(known)) {
    throw usageError(
      `profile ${name} is an embedded database and needs no login`,
      `Use another profile with --profile, or remove this one: starpost profile remove ${name}`,
    );
  }
  const target = await readAccountTarget(context, flags, { known, promptsAll });
  const secret = await readAccountSecret(context, flags, target);
  if (secret === undefined) throw missingSecret();
  const id = known?.id ?? context.io.random(8).toString("hex");
  const isLive = flags.live ?? known?.live === true;
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
    context.messages.info(`Signed in to ${target.base_url} as ${target.app_key}. The current profile is now ${name}.`);
    await reportSecretPlace(context, kept ?? { place: "file" });
    warnAboutOverride(context, name);
    return { ...statusOf(profile, target.app_key, token), secret_in: kept?.place ?? "file" };
  } finally {
    await connection.close();
  }
}

/** Warns about environment variables that override the current profile. */
export function warnAboutOverride({ io: { env }, messages }: Context, name: string): void {
  const asked = readVariable(env, "STARPOST_PROFILE");
  if (hasAdHocProfile(env)) {
    messages.warn("STARPOST_BASE_URL, STARPOST_APP_KEY, and STARPOST_SECRET are set and take precedence.");
  } else if (asked !== undefined && asked !== name) {
    messages.warn(`STARPOST_PROFILE is set to ${asked} and takes precedence.`);
  }
}

/**
 * Finds the profile to sign in to. Without a profile or an account, it is the current one.
 * @throws UserError `usage`
 */
function findName({ io, globals }: Context, given: AccountFlags, stored: StoredProfiles): string {
  const asked = globals.profile ?? readVariable(io.env, "STARPOST_PROFILE");
  if (asked !== undefined) return parseNewProfileName(asked);
  const isOther = [given["base-url"], given["app-key"]].some((value) => value !== undefined) || hasAdHocProfile(io.env);
  const current = isOther || stored.current === undefined ? undefined : findStored(stored, stored.current);
  return current && !isDatabase(current) ? (stored.current ?? defaultName) : defaultName;
}
