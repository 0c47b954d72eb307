import { join } from "node:path";
import { withFileGuard } from "./file-guard.ts";
import { readFileIfThere } from "./private-file.ts";
import { UserError } from "./user-error.ts";
import { writeSettings } from "./settings-file.ts";

interface StoredMarks {
  /** Whether a shop runs on it. */
  readonly live?: true;
  /** Tells this profile from others of its name, in the keyring and among the tokens; of old ones there is none. */
  readonly id?: string;
  /** Where the secret is, where it is not in the file. */
  readonly secret_in?: "keyring";
  /** Whether the keyring still has a former secret, which it was not there to forget. */
  readonly left_in_keyring?: true;
}

/** An account of a service, as it is remembered. */
export interface StoredAccount extends StoredMarks {
  readonly base_url: string;
  readonly app_key: string;
}

/** A database of the embedded engine, as it is remembered: its password is a secret, and not in the address. */
export interface StoredDatabase extends StoredMarks {
  readonly database: string;
}

export type StoredProfile = StoredAccount | StoredDatabase;

export interface StoredProfiles {
  /** The profile that is used where nothing names one. */
  readonly current?: string | undefined;
  readonly profiles: Readonly<Record<string, StoredProfile>>;
}

/** Longer than a file takes to be written, however busy the machine is. */
const guardWaitMs = 10_000;

export function isDatabase(profile: StoredProfile): profile is StoredDatabase {
  return "database" in profile;
}

/** What a profile's secret is for; kept for one, it is given to no other. */
export function targetOf(profile: StoredProfile): string {
  return isDatabase(profile) ? profile.database : `${profile.app_key} at ${profile.base_url}`;
}

export function findStored(stored: StoredProfiles, name: string): StoredProfile | undefined {
  return Object.hasOwn(stored.profiles, name) ? stored.profiles[name] : undefined;
}

/**
 * Everything that is remembered, without the secrets.
 * @throws UserError `failed` where the file is not what starpost wrote
 */
export async function readProfiles(configFolder: string): Promise<StoredProfiles> {
  const path = pathOf(configFolder);
  const text = await readFileIfThere(path);
  if (text === undefined) return { profiles: {} };
  const { current, profiles = {} } = parseObject(text, path) as Partial<StoredProfiles>;
  const wrong = Object.entries(profiles).find(([, profile]) => !isStoredProfile(profile));
  if (wrong) throw unreadable(path, `the profile ${wrong[0]} has neither an address nor a database`);
  return { current, profiles };
}

/** Changes what is remembered; meanwhile no other process does. */
export function changeProfiles(
  configFolder: string,
  change: (stored: StoredProfiles) => StoredProfiles | Promise<StoredProfiles>,
): Promise<void> {
  return withFileGuard(
    join(configFolder, "profiles.lock"),
    async () => {
      const changed = await change(await readProfiles(configFolder));
      await writeSettings(pathOf(configFolder), changed);
    },
    { waitMs: guardWaitMs },
  );
}

/**
 * Reads a file that starpost wrote as JSON.
 * @throws UserError `failed`
 */
export function parseObject(text: string, path: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch (error) {
    // The words of the parser repeat the text, which may be a secret.
    throw unreadable(path, "it is not JSON", error);
  }
  throw unreadable(path, "it is not a JSON object");
}

function unreadable(path: string, why: string, cause?: unknown): UserError {
  const hint = "Correct the file, or remove it and sign in again.";
  return new UserError("failed", `${path} cannot be read: ${why}`, hint, cause);
}

function isStoredProfile(value: unknown): value is StoredProfile {
  const { base_url, app_key, database } = (value ?? {}) as Partial<StoredAccount & StoredDatabase>;
  return typeof database === "string" || (typeof base_url === "string" && typeof app_key === "string");
}

function pathOf(configFolder: string): string {
  return join(configFolder, "profiles.json");
}
