import { resolve } from "node:path";
import { AddressError, parseDatabaseAddress } from "../storage/address.ts";
import { type Environment, readVariable } from "./environment.ts";
import type { Paths } from "./paths.ts";
import { UserError } from "./user-error.ts";
import { builtInNames, readBaseUrl, unknownProfile } from "./profile-name.ts";
import {
  findStored,
  isDatabase,
  readProfiles,
  type StoredDatabase,
  type StoredProfile,
} from "./profile-store.ts";
import type { SecretSources } from "./secret-store.ts";

interface NamedProfile {
  readonly name: string;
  /** Whether a shop runs on it: what writes to it says so, and what destroys there asks. */
  readonly isLive: boolean;
}

/** The embedded engine over a database that it opens itself. */
export interface LocalProfile extends NamedProfile {
  readonly mode: "local";
  /** The path of a SQLite file, or the address of a PostgreSQL database with its password. */
  readonly database: string;
  /** The database as a person may see it: without a password. */
  readonly shownAs: string;
}

/** An account of a service that is reached over HTTP. */
export interface RemoteProfile extends NamedProfile {
  readonly mode: "remote";
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly appKey: string;
  /**
   * Nothing where no secret is known. Only asked for where no kept token serves: a keyring takes its time.
   * @throws UserError `auth` where a keyring does not give it
   */
  readonly readSecret: () => Promise<string | undefined>;
  /** Tells the tokens of this login from those of others; nothing where there was none. */
  readonly tokenMark: string | undefined;
  /** A token that the environment gives. */
  readonly utoken?: string | undefined;
}

export type Profile = LocalProfile | RemoteProfile;

/** What a profile is looked for in. */
export interface ProfileSources {
  readonly env: Environment;
  readonly cwd: string;
  readonly paths: Paths;
  /** The value of `--profile`. */
  readonly flag?: string | undefined;
  /** Whether a person is there to unlock a keyring; nobody where absent. */
  readonly hasPerson?: (() => boolean) | undefined;
}

/**
 * Finds the profile to use: flag, then environment, then the current one, then `local`.
 * In the environment, the variables of an ad-hoc profile come before `STARPOST_PROFILE`, and `STARPOST_DATABASE` before
 * the database of any profile that no flag names.
 * @throws UserError `usage` when it is not known or only half given
 */
export async function resolveProfile(sources: ProfileSources): Promise<Profile> {
  const { env, flag, paths } = sources;
  const adHoc = flag === undefined || flag === builtInNames.environment ? readAdHocProfile(env) : undefined;
  if (adHoc) return adHoc;
  const asked = flag ?? readVariable(env, "STARPOST_PROFILE");
  if (asked === builtInNames.local) return localProfile(sources);
  const all = await readProfiles(paths.configFolder);
  const name = asked ?? all.current;
  if (name === undefined || name === builtInNames.local) return localProfile(sources);
  const stored = findStored(all, name);
  if (!stored) throw unknownProfile(name, Object.keys(all.profiles));
  if (!isDatabase(stored)) return remoteProfile(sources, name, stored);
  const isReplaced = flag === undefined && readVariable(env, "STARPOST_DATABASE") !== undefined;
  return isReplaced ? localProfile(sources) : storedDatabase(sources, name, stored);
}

/** The embedded engine's profile that is always there, whichever is current. */
export function localProfile({
  env,
  cwd,
  paths,
}: Pick<ProfileSources, "env" | "cwd" | "paths">): LocalProfile {
  const given = readVariable(env, "STARPOST_DATABASE");
  const database = findDatabase(given ?? paths.database, cwd, "STARPOST_DATABASE");
  return { name: builtInNames.local, isLive: false, mode: "local", ...database };
}

/** Where the secrets of stored profiles are looked for. */
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
    mode: "remote",
    baseUrl: stored.base_url,
    appKey: stored.app_key,
    readSecret: read,
    tokenMark: stored.id ?? (await read()),
  };
}

/** A password is put into the address, which everything that opens a database takes. */
async function storedDatabase(
  sources: ProfileSources,
  name: string,
  stored: StoredDatabase,
): Promise<LocalProfile> {
  const { database, shownAs } = findDatabase(stored.database, sources.cwd, `the profile ${name}`);
  const profile = { name, isLive: stored.live === true, mode: "local", shownAs } as const;
  const isServer = /^postgres(?:ql)?:/i.test(stored.database);
  const password = isServer ? await readStoredSecret(sources, name, stored) : undefined;
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
 * The database that a text names, and what a person is told it is.
 * @throws UserError `usage`
 */
export function findDatabase(
  given: string,
  cwd: string,
  source: string,
): Pick<LocalProfile, "database" | "shownAs"> {
  const address = readAddress(given, source);
  if (!address.isFile) return { database: address.location, shownAs: address.shownAs };
  const path = resolve(cwd, address.location);
  return { database: path, shownAs: path };
}

function readAddress(given: string, source: string): ReturnType<typeof parseDatabaseAddress> {
  try {
    return parseDatabaseAddress(given);
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    const otherwise =
      source === "STARPOST_DATABASE" ? ", or leave it unset for the file in the data folder" : "";
    throw new UserError(
      "usage",
      `${source}: ${error.message}`,
      `Give the path of a SQLite file or the address of a PostgreSQL database${otherwise}.`,
    );
  }
}

/** Whether the environment makes a profile of its own, which comes before all but a flag. */
export function hasAdHocProfile(env: Environment): boolean {
  return ["STARPOST_BASE_URL", "STARPOST_APP_KEY", "STARPOST_SECRET"].some(
    (name) => readVariable(env, name) !== undefined,
  );
}

/** A token serves in the place of the secret: a job need not have both. */
function readAdHocProfile(env: Environment): RemoteProfile | undefined {
  if (!hasAdHocProfile(env)) return undefined;
  const [baseUrl, appKey, secret, utoken] = [
    "STARPOST_BASE_URL",
    "STARPOST_APP_KEY",
    "STARPOST_SECRET",
    "STARPOST_UTOKEN",
  ].map((name) => readVariable(env, name));
  if (baseUrl === undefined || appKey === undefined || (secret === undefined && utoken === undefined)) {
    throw halfGiven({
      STARPOST_BASE_URL: baseUrl,
      STARPOST_APP_KEY: appKey,
      STARPOST_SECRET: secret ?? utoken,
    });
  }
  return {
    name: builtInNames.environment,
    isLive: false,
    mode: "remote",
    baseUrl: readBaseUrl(baseUrl, "STARPOST_BASE_URL"),
    appKey,
    readSecret: async () => secret,
    tokenMark: secret,
    utoken,
  };
}

function halfGiven(given: Readonly<Record<string, string | undefined>>): UserError {
  const missing = Object.keys(given).filter((name) => given[name] === undefined);
  return new UserError(
    "usage",
    `${missing.join(" and ")} ${missing.length === 1 ? "is" : "are"} not set, and ${Object.keys(given).join(", ")} go together`,
    "Set all three, or none of them; STARPOST_UTOKEN may take the place of the secret.",
  );
}
