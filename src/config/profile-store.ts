import { join } from "node:path";
import { readSettings, writeSettings } from "./private-file.ts";
import { failedError } from "./user-error.ts";
import { withFileLock } from "./with-file-lock.ts";
import { isJsonObject } from "../contract/json-text.ts";

interface StoredFields {
  /** Whether the account is in production. */
  readonly live?: true;
  /** The name of the person who uses it, for histories. */
  readonly by?: string;
  /** Identifies the profile in the keyring and among cached tokens, even if its name is reused. Absent in old profiles. */
  readonly id?: string;
  /** Present if the secret is in the keyring instead of the file. */
  readonly secret_in?: "keyring";
  /** Whether the keyring still contains an earlier secret that could not be deleted. */
  readonly left_in_keyring?: true;
}

/** A stored profile for an account of a remote service. */
export interface StoredAccount extends StoredFields {
  readonly base_url: string;
  readonly app_key: string;
}

/** A stored profile for a database of the embedded engine. Its password is stored as a secret, not in the address. */
export interface StoredDatabase extends StoredFields {
  readonly database: string;
}

export type StoredProfile = StoredAccount | StoredDatabase;

export interface StoredProfiles {
  /** The profile to use by default. */
  readonly current?: string | undefined;
  readonly profiles: Readonly<Record<string, StoredProfile>>;
}

/** What to do about profiles or secrets that are not valid. */
export const signInHint = "Correct the file, or delete it and sign in again.";

export function isDatabase(profile: StoredProfile): profile is StoredDatabase {
  return "database" in profile;
}

/** What the secret of a profile belongs to. It is never used for another target. */
export function targetOf(profile: StoredProfile): string {
  return isDatabase(profile) ? profile.database : `${profile.app_key} at ${profile.base_url}`;
}

export function findStored(stored: StoredProfiles, name: string): StoredProfile | undefined {
  return Object.hasOwn(stored.profiles, name) ? stored.profiles[name] : undefined;
}

/**
 * Reads all stored profiles, without their secrets.
 * @throws UserError `failed` if the file is not valid
 */
export async function readProfiles(configFolder: string): Promise<StoredProfiles> {
  return (await readSettings(pathOf(configFolder), parseProfiles, signInHint)) ?? { profiles: {} };
}

/** Reads all stored profiles, whether or not their fields are valid. */
export async function readRawProfiles(configFolder: string): Promise<Partial<StoredProfiles>> {
  return (await readSettings(pathOf(configFolder), parseObject, signInHint)) ?? {};
}

function parseProfiles(text: string): StoredProfiles {
  const { current, profiles = {} } = parseObject(text) as Partial<StoredProfiles>;
  const invalid = Object.entries(profiles).find(([, profile]) => !isStoredProfile(profile));
  if (invalid) throw failedError(`profile ${invalid[0]} has neither an address nor a database`);
  return { current, profiles };
}

/** Changes the stored profiles while holding a lock. */
export function changeProfiles(
  configFolder: string,
  change: (stored: StoredProfiles) => StoredProfiles | Promise<StoredProfiles>,
): Promise<void> {
  return withFileLock(join(configFolder, "profiles.lock"), async () =>
    writeSettings(pathOf(configFolder), await change(await readProfiles(configFolder))),
  );
}

/**
 * Parses a JSON object that starpost wrote.
 * @throws UserError `failed`
 */
export function parseObject(text: string): object {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw failedError("invalid JSON", undefined, error);
  }
  if (isJsonObject(value)) return value;
  throw failedError("not a JSON object");
}

function isStoredProfile(value: unknown): value is StoredProfile {
  const { base_url, app_key, database } = (value ?? {}) as Partial<StoredAccount & StoredDatabase>;
  return typeof database === "string" || (typeof base_url === "string" && typeof app_key === "string");
}

function pathOf(configFolder: string): string {
  return join(configFolder, "profiles.json");
}
