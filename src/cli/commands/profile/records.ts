import { readVariable } from "../../../config/environment.ts";
import { usageError } from "../../../config/user-error.ts";
import { hasAdHocProfile, localProfile, secretSources } from "../../../config/profile.ts";
import { builtInNames, unknownProfile } from "../../../config/profile-name.ts";
import {
  findStored,
  isDatabase,
  readProfiles,
  type StoredProfile,
  type StoredProfiles,
} from "../../../config/profile-store.ts";
import { findSecretPlace, secretFileOf } from "../../../config/secret-store.ts";
import type { Context } from "../../program/context.ts";

/** A profile without its secret. */
export interface ProfileRecord {
  readonly name: string;
  readonly mode: "local" | "remote";
  readonly base_url: string | null;
  /** Without a password. */
  readonly database: string | null;
  /** Null for a local profile, whose database contains it. */
  readonly app_key: string | null;
  /** Whether commands use it if no flag names another profile. */
  readonly current: boolean;
  readonly live: boolean;
  /** The name under which changes are recorded, if the profile has one. */
  readonly by: string | null;
  /** Whether a secret is stored; always true for local profiles, which need none. */
  readonly signed_in: boolean;
  readonly secret_in: "keyring" | "file" | "environment" | null;
}

/** Lists all profiles: the built-in local profile, the one from the environment, and the stored ones. */
export async function listProfiles(context: Context): Promise<ProfileRecord[]> {
  const sources = await context.profileSources();
  const { env, paths } = sources;
  const stored = await readProfiles(paths.configFolder);
  const current = findCurrent(context, stored);
  const places = secretSources(sources);
  const records = Object.entries(stored.profiles).map(async ([name, profile]) =>
    recordOf(name, profile, { current, secretIn: await findSecretPlace(places, name, profile) }),
  );
  return [
    {
      ...recordOfDatabase(builtInNames.local, localProfile(sources).shownAs),
      current: current === builtInNames.local,
      live: false,
      by: null,
      secret_in: null,
    },
    ...(hasAdHocProfile(env) ? [recordOfEnvironment(context)] : []),
    ...(await Promise.all(records)),
  ];
}

/** @throws UserError `usage` if there is no such profile */
export async function findRecord(context: Context, name: string | undefined): Promise<ProfileRecord> {
  const records = await listProfiles(context);
  const found = records.find((record) => (name === undefined ? record.current : record.name === name));
  if (found) return found;
  const sources = await context.profileSources();
  const asked = name ?? findCurrent(context, await readProfiles(sources.paths.configFolder));
  throw unknownProfile(
    asked,
    records.map((record) => record.name).filter((one) => one !== builtInNames.local),
  );
}

/**
 * Finds a stored profile that a command is about to change.
 * @throws UserError `usage` if the profile does not exist or is built in
 */
export async function requireStored(context: Context, name: string, action: string): Promise<StoredProfile> {
  const { paths } = await context.profileSources();
  const stored = await readProfiles(paths.configFolder);
  if (name === builtInNames.local) {
    throw usageError(
      `cannot ${action} the built-in profile local`,
      "It is the embedded database of this machine. To create another, run `starpost profile add <name> --database <path>`.",
    );
  }
  if (name === builtInNames.environment) {
    throw usageError(
      `cannot ${action} the profile env, which the environment defines`,
      "Unset STARPOST_BASE_URL, STARPOST_APP_KEY, STARPOST_SECRET, and STARPOST_UTOKEN.",
    );
  }
  const found = findStored(stored, name);
  if (!found) throw unknownProfile(name, Object.keys(stored.profiles));
  return found;
}

/** The profile that commands use if no flag names one. */
export function findCurrent({ io: { env } }: Context, stored: StoredProfiles): string {
  if (hasAdHocProfile(env)) return builtInNames.environment;
  const name = readVariable(env, "STARPOST_PROFILE") ?? stored.current ?? builtInNames.local;
  const isReplaced = findStored(stored, name) !== undefined && readVariable(env, "STARPOST_DATABASE") !== undefined;
  return isReplaced ? builtInNames.local : name;
}

function recordOf(
  name: string,
  profile: StoredProfile,
  { current, secretIn }: { readonly current: string; readonly secretIn: ProfileRecord["secret_in"] },
): ProfileRecord {
  const shared = {
    current: name === current,
    live: profile.live === true,
    by: profile.by ?? null,
    secret_in: secretIn,
  };
  if (isDatabase(profile)) return { ...recordOfDatabase(name, profile.database), ...shared };
  const { base_url, app_key } = profile;
  return { name, mode: "remote", base_url, database: null, app_key, ...shared, signed_in: secretIn !== null };
}

function recordOfDatabase(name: string, database: string) {
  return { name, mode: "local", base_url: null, database, app_key: null, signed_in: true } as const;
}

function recordOfEnvironment({ io: { env } }: Context): ProfileRecord {
  const [secret, utoken] = [readVariable(env, "STARPOST_SECRET"), readVariable(env, "STARPOST_UTOKEN")];
  const isSigned = secret !== undefined || utoken !== undefined;
  return {
    name: builtInNames.environment,
    mode: "remote",
    base_url: readVariable(env, "STARPOST_BASE_URL") ?? null,
    database: null,
    app_key: readVariable(env, "STARPOST_APP_KEY") ?? null,
    current: true,
    live: false,
    by: null,
    signed_in: isSigned,
    secret_in: isSigned ? "environment" : null,
  };
}

/** A profile, and the file that contains its secret, if any. */
export async function showProfile(
  context: Context,
  name: string | undefined,
): Promise<ProfileRecord & { readonly secret_file: string | null }> {
  const record = await findRecord(context, name);
  const { paths } = await context.profileSources();
  return { ...record, secret_file: record.secret_in === "file" ? secretFileOf(paths.configFolder) : null };
}
