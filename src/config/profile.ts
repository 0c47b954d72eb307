import { userInfo } from "node:os";
import { resolve } from "node:path";
import { parseDatabaseAddress } from "../storage/address.ts";
import { parseAddress } from "./database-settings.ts";
import { type Environment, readVariable } from "./environment.ts";
import type { Paths } from "./paths.ts";
import { invalidValue, type UserError, usageError } from "./user-error.ts";
import { isActorName, maxActorName } from "../contract/public-text.ts";
import { builtInNames, parseBaseUrl, unknownProfile } from "./profile-name.ts";
import { findStored, isDatabase, readProfiles, type StoredDatabase, type StoredProfile } from "./profile-store.ts";
import type { SecretSources } from "./secret-store.ts";

interface NamedProfile {
  readonly name: string;
  /** Whether it is in production: its name is shown on writes, and destructive commands ask for confirmation. */
  readonly isLive: boolean;
  /** The name of the person who uses it, for histories. */
  readonly by?: string | undefined;
}

/** An account of the embedded engine. */
export interface LocalProfile extends NamedProfile {
  readonly mode: "local";
  /** The path of a SQLite file, or the URL of a PostgreSQL database, including its password. */
  readonly database: string;
  /** The database as it is shown to users: without a password. */
  readonly shownAs: string;
  /** The app key of the chosen account (default: the database's first account). */
  readonly account?: string | undefined;
}

/** An account of a remote service. */
export interface RemoteProfile extends NamedProfile {
  readonly mode: "remote";
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly appKey: string;
  /**
   * Returns undefined if no secret is stored. Called only if there is no valid cached token, because keyrings are slow.
   * @throws UserError `auth` if the secret cannot be read from the keyring
   */
  readonly readSecret: () => Promise<string | undefined>;
  /** Distinguishes the tokens of this login from those of others. */
  readonly tokenMark: string | undefined;
  /** A token from the environment. */
  readonly utoken?: string | undefined;
}

export type Profile = LocalProfile | RemoteProfile;

/** Where to look for a profile. */
export interface ProfileSources {
  readonly env: Environment;
  readonly cwd: string;
  readonly paths: Paths;
  /** The value of `--profile`. */
  readonly flag?: string | undefined;
  /** The value of `--account`. */
  readonly account?: string | undefined;
  /** Whether the user can be asked to unlock the keyring (default: no). */
  readonly hasPerson?: (() => boolean) | undefined;
}

/**
 * Finds the profile to use: from the flag, the environment, the current profile, or else `local`.
 * In the environment, the variables of an ad hoc profile take precedence over `STARPOST_PROFILE`. `STARPOST_DATABASE`
 * replaces any profile that is not selected by the flag, but contradicts variables that select a remote profile.
 * @throws UserError `usage` if the profile is unknown or incomplete, or if variables or flags contradict each other
 */
export async function resolveProfile(sources: ProfileSources): Promise<Profile> {
  const { account } = sources;
  const profile = await findProfile(sources);
  if (account === undefined) return profile;
  if (profile.mode === "local") return { ...profile, account };
  throw usageError(
    `profile ${profile.name} is remote; --account selects an account of a database`,
    "Remove --account, or use --profile local. To use another account of the service, create a profile for it.",
  );
}

async function findProfile(sources: ProfileSources): Promise<Profile> {
  const { env, flag, paths } = sources;
  const adHoc = flag === undefined || flag === builtInNames.environment ? readAdHocProfile(env) : undefined;
  const isDatabaseGiven = flag === undefined && readVariable(env, "STARPOST_DATABASE") !== undefined;
  if (adHoc && isDatabaseGiven) throw contradiction("STARPOST_BASE_URL");
  if (adHoc) return adHoc;
  const requested = flag ?? readVariable(env, "STARPOST_PROFILE");
  if (requested === builtInNames.local) return localProfile(sources);
  const all = await readProfiles(paths.configFolder);
  const name = requested ?? all.current;
  if (name === undefined || name === builtInNames.local) return localProfile(sources);
  const stored = findStored(all, name);
  if (!stored) throw unknownProfile(name, Object.keys(all.profiles));
  if (isDatabaseGiven && requested !== undefined && !isDatabase(stored)) throw contradiction("STARPOST_PROFILE");
  if (isDatabaseGiven) return localProfile(sources);
  return isDatabase(stored) ? storedDatabase(sources, name, stored) : remoteProfile(sources, name, stored);
}

function contradiction(variable: string): UserError {
  return usageError(
    `STARPOST_DATABASE selects a database, but ${variable} selects a remote service`,
    "Unset one of the two variables, or select a profile with --profile.",
  );
}

/** The built-in profile `local`. */
export function localProfile({
  env,
  cwd,
  paths,
  account,
}: Pick<ProfileSources, "env" | "cwd" | "paths" | "account">): LocalProfile {
  const location = readVariable(env, "STARPOST_DATABASE");
  const database = findDatabase(location ?? paths.database, cwd, "STARPOST_DATABASE");
  return { name: builtInNames.local, isLive: false, mode: "local", ...database, account };
}

/** Where to look for the secrets of stored profiles. */
export function secretSources({ env, paths, hasPerson }: ProfileSources): SecretSources {
  return { env, configFolder: paths.configFolder, hasPerson };
}

async function remoteProfile(
  sources: ProfileSources,
  name: string,
  stored: Exclude<StoredProfile, StoredDatabase>,
): Promise<RemoteProfile> {
  const read = () => readStoredSecret(sources, name, stored);
  return {
    name,
    isLive: stored.live === true,
    by: stored.by,
    mode: "remote",
    baseUrl: stored.base_url,
    appKey: stored.app_key,
    readSecret: read,
    tokenMark: stored.id ?? (await read()),
  };
}

/** Adds the stored password to the address. */
async function storedDatabase(sources: ProfileSources, name: string, stored: StoredDatabase): Promise<LocalProfile> {
  const { database, shownAs } = findDatabase(stored.database, sources.cwd, `profile ${name}`);
  const profile = { name, isLive: stored.live === true, by: stored.by, mode: "local", shownAs } as const;
  const password = isDatabaseServer(stored) ? await readStoredSecret(sources, name, stored) : undefined;
  return { ...profile, database: password === undefined ? database : withPassword(database, password) };
}

async function readStoredSecret(sources: ProfileSources, name: string, stored: StoredProfile) {
  const { readSecret } = await import("./secret-store.ts");
  return readSecret(secretSources(sources), name, stored);
}

function withPassword(address: string, password: string): string {
  const url = new URL(address);
  url.password = encodeURIComponent(password);
  return url.href;
}

/**
 * Resolves a path or URL of a database.
 * @throws UserError `usage`
 */
export function findDatabase(
  location: string,
  cwd: string,
  source: string,
): Pick<LocalProfile, "database" | "shownAs"> {
  const fallback = source === "STARPOST_DATABASE" ? ", or unset it to use the default database" : "";
  const hint = `Use the path of a SQLite file or the URL of a PostgreSQL database${fallback}.`;
  const address = parseAddress(location, source, hint);
  if (!address.isFile) return { database: address.location, shownAs: address.shownAs };
  const path = resolve(cwd, address.location);
  return { database: path, shownAs: path };
}

/** The variables that define an ad hoc profile, all of which must be set. */
const adHocNames = ["STARPOST_BASE_URL", "STARPOST_APP_KEY", "STARPOST_SECRET"] as const;

/** Whether the environment defines an ad hoc profile. Only the flag takes precedence over it. */
export function hasAdHocProfile(env: Environment): boolean {
  return adHocNames.some((name) => readVariable(env, name) !== undefined);
}

/** A token can replace the secret, so that a job does not need both. */
function readAdHocProfile(env: Environment): RemoteProfile | undefined {
  if (!hasAdHocProfile(env)) return undefined;
  const [baseUrl, appKey, secret, utoken] = [...adHocNames, "STARPOST_UTOKEN"].map((name) => readVariable(env, name));
  if (baseUrl === undefined || appKey === undefined || (secret ?? utoken) === undefined) {
    const missing = adHocNames.filter((_, at) => [baseUrl, appKey, secret ?? utoken][at] === undefined);
    throw usageError(
      `${missing.join(" and ")} not set: ${adHocNames.join(", ")} must be set together`,
      "Set all three or none of them. STARPOST_UTOKEN can replace the secret.",
    );
  }
  return {
    name: builtInNames.environment,
    isLive: false,
    mode: "remote",
    baseUrl: parseBaseUrl(baseUrl, "STARPOST_BASE_URL"),
    appKey,
    readSecret: async () => secret,
    tokenMark: secret,
    utoken,
  };
}

/**
 * Finds who makes changes, as histories show it: from the environment, the profile, or the user of the operating system.
 * @throws UserError `usage`
 */
export function findPerson(env: Environment, { name, by }: Pick<Profile, "name" | "by">): string | undefined {
  const given = readVariable(env, "STARPOST_BY");
  if (given !== undefined) return checkPerson(given, "STARPOST_BY");
  if (by !== undefined) return checkPerson(by, `"by" of profile ${name}`);
  try {
    const { username } = userInfo();
    return isActorName(username, maxActorName.person) ? username : undefined;
  } catch {
    // A container's user may have no name.
    return undefined;
  }
}

/** @throws UserError `usage` */
export function checkPerson(name: string, source: string): string {
  if (isActorName(name, maxActorName.person)) return name;
  throw invalidValue(name, source, `a name of at most ${maxActorName.person} visible characters`);
}

/** Whether a database is on a server, not in a file. */
export function isDatabaseServer({ database }: Pick<LocalProfile, "database">): boolean {
  return !parseDatabaseAddress(database).isFile;
}
