import { join, resolve } from "node:path";
import { AddressError, type DatabaseAddress, readDatabaseAddress } from "../storage/address.ts";
import { type Environment, readVariable } from "./environment.ts";
import type { Paths } from "./paths.ts";
import { readFileIfThere } from "./private-file.ts";
import { Problem } from "./problem.ts";
import type { StoredProfiles } from "./profile-store.ts";

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
  /** Nothing where no secret is known: not signed in. */
  readonly secret: string | undefined;
}

export type Profile = LocalProfile | RemoteProfile;

/** Profiles that are there without a login, and cannot be made by one. */
const builtIn = { local: "local", environment: "env" } as const;

const adHocVariables = ["STARPOST_BASE_URL", "STARPOST_APP_KEY", "STARPOST_SECRET"] as const;

/** What a profile is looked for in. */
export interface ProfileSources {
  readonly env: Environment;
  readonly cwd: string;
  readonly paths: Paths;
  /** The value of `--profile`. */
  readonly flag?: string | undefined;
}

/**
 * Finds the profile to use: flag, then environment, then the current one, then `local`.
 * In the environment, the three variables of an ad-hoc profile come before `STARPOST_PROFILE`.
 * @throws Problem `usage` when it is not known or only half given
 */
export async function resolveProfile(sources: ProfileSources): Promise<Profile> {
  const { env, flag, paths } = sources;
  const adHoc = flag === undefined || flag === builtIn.environment ? readAdHocProfile(env) : undefined;
  if (adHoc) return adHoc;
  const asked = flag ?? readVariable(env, "STARPOST_PROFILE");
  if (asked === builtIn.local) return localProfile(sources);
  const { current, profiles } = await readStoredProfiles(paths.configFolder);
  const name = asked ?? current;
  if (name === undefined || name === builtIn.local) return localProfile(sources);
  const stored = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (!stored) throw unknownProfile(name, Object.keys(profiles));
  const { readSecret } = await import("./profile-store.ts");
  return {
    name,
    isLive: stored.live === true,
    mode: "remote",
    baseUrl: stored.base_url,
    appKey: stored.app_key,
    secret: readSecret(paths.configFolder, name, stored),
  };
}

/** The embedded engine's profile, whichever is current. */
export function localProfile({ env, cwd, paths }: ProfileSources): LocalProfile {
  const given = readVariable(env, "STARPOST_DATABASE");
  return { name: builtIn.local, isLive: false, mode: "local", ...findDatabase(given ?? paths.database, cwd) };
}

function findDatabase(given: string, cwd: string): Pick<LocalProfile, "database" | "shownAs"> {
  const address = readAddress(given);
  if (address.dialect === "postgres") return { database: address.url, shownAs: address.shownAs };
  const path = resolve(cwd, address.path);
  return { database: path, shownAs: path };
}

function readAddress(given: string): DatabaseAddress {
  try {
    return readDatabaseAddress(given);
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    throw new Problem(
      "usage",
      `STARPOST_DATABASE: ${error.message}`,
      "Give the path of a SQLite file or the address of a PostgreSQL database, or leave it unset for the file in the data folder.",
    );
  }
}

function readAdHocProfile(env: Environment): RemoteProfile | undefined {
  const missing = adHocVariables.filter((name) => readVariable(env, name) === undefined);
  if (missing.length === adHocVariables.length) return undefined;
  const [baseUrl, appKey, secret] = adHocVariables.map((name) => readVariable(env, name));
  if (baseUrl === undefined || appKey === undefined || secret === undefined) {
    throw new Problem(
      "usage",
      `${missing.join(" and ")} ${missing.length === 1 ? "is" : "are"} not set, and ${adHocVariables.join(", ")} go together`,
      "Set all three, or none of them.",
    );
  }
  return {
    name: builtIn.environment,
    isLive: false,
    mode: "remote",
    baseUrl: readBaseUrl(baseUrl, "STARPOST_BASE_URL"),
    appKey,
    secret,
  };
}

/** Checks a service's address and takes off the slash at its end. */
export function readBaseUrl(text: string, source: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isWeb = url?.protocol === "http:" || url?.protocol === "https:";
  if (!url || !isWeb || url.username !== "" || url.search !== "" || url.hash !== "") {
    throw new Problem(
      "usage",
      `${source}: ${JSON.stringify(text)} is not an address of a service`,
      "Give one such as https://api.example.com or http://127.0.0.1:8080.",
    );
  }
  return url.href.replace(/\/+$/, "");
}

/** Checks the name of a profile that a login makes. */
export function readNewProfileName(name: string): string {
  const isTaken = Object.values<string>(builtIn).includes(name);
  if (!isTaken && /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name) && name !== "constructor") return name;
  throw new Problem(
    "usage",
    isTaken
      ? `the profile ${name} is always there and cannot be signed in`
      : `${JSON.stringify(name)} is not a name for a profile`,
    "Name another with --profile: letters, digits, `.`, `_` and `-`.",
  );
}

async function readStoredProfiles(configFolder: string): Promise<StoredProfiles> {
  // Loading the store costs more than the rest of a start; most machines never signed in.
  if ((await readFileIfThere(join(configFolder, "profiles.json"))) === undefined) return { profiles: {} };
  const { readProfiles } = await import("./profile-store.ts");
  return readProfiles(configFolder);
}

function unknownProfile(name: string, known: readonly string[]): Problem {
  const all = [builtIn.local, ...known].join(", ");
  return new Problem(
    "usage",
    `there is no profile ${JSON.stringify(name)}`,
    `There are: ${all}. \`starpost auth login --profile <name>\` makes one.`,
  );
}
