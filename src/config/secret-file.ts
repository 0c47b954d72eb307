import { join } from "node:path";
import { isDatabase, parseObject, signInHint, type StoredProfile } from "./profile-store.ts";
import { readSettings, writeSettings } from "./settings-file.ts";

/** A secret, and the account or database that it belongs to. */
type StoredSecret =
  | { readonly base_url: string; readonly app_key: string; readonly secret: string }
  | { readonly database: string; readonly secret: string };

type StoredSecrets = Readonly<Record<string, StoredSecret>>;

export function secretFileOf(configFolder: string): string {
  return join(configFolder, "credentials.json");
}

/** Reads the secret of a profile, if it belongs to the same account or database. */
export async function readFromFile(
  configFolder: string,
  name: string,
  profile: StoredProfile,
): Promise<string | undefined> {
  const secrets = await readSecrets(configFolder);
  const stored = Object.hasOwn(secrets, name) ? secrets[name] : undefined;
  return stored && belongsTo(stored, profile) ? stored.secret : undefined;
}

/** Stores a secret in the file. The caller must hold the lock of the profiles. */
export async function writeToFile(
  configFolder: string,
  name: string,
  profile: StoredProfile,
  secret: string,
): Promise<void> {
  const target = isDatabase(profile)
    ? { database: profile.database }
    : { base_url: profile.base_url, app_key: profile.app_key };
  await writeSettings(secretFileOf(configFolder), {
    ...(await readSecrets(configFolder)),
    [name]: { ...target, secret },
  });
}

/**
 * Deletes a secret from the file. The caller must hold the lock of the profiles.
 * @returns whether there was one
 */
export async function removeFromFile(configFolder: string, name: string): Promise<boolean> {
  const { [name]: found, ...others } = await readSecrets(configFolder);
  if (found === undefined) return false;
  await writeSettings(secretFileOf(configFolder), others);
  return true;
}

function belongsTo(stored: StoredSecret, profile: StoredProfile): boolean {
  if ("database" in stored) return isDatabase(profile) && stored.database === profile.database;
  return !isDatabase(profile) && stored.base_url === profile.base_url && stored.app_key === profile.app_key;
}

async function readSecrets(configFolder: string): Promise<StoredSecrets> {
  return ((await readSettings(secretFileOf(configFolder), parseObject, signInHint)) ?? {}) as StoredSecrets;
}
