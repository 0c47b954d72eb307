import type { Environment } from "./environment.ts";
import { failedError, UserError } from "./user-error.ts";
import { type StoredProfile, targetOf, isDatabase, parseObject, signInHint } from "./profile-store.ts";
import { join } from "node:path";
import { readSettings, writeSettings } from "./private-file.ts";

/** Where secrets are stored on this machine. */
export type SecretPlace = "keyring" | "file";

/** Where to look for secrets. */
export interface SecretSources {
  readonly env: Environment;
  readonly configFolder: string;
  /** Whether the user can be asked to unlock the keyring (default: no). */
  readonly hasPerson?: (() => boolean) | undefined;
}

/** Finds out where the secret of a profile is stored, without accessing the keyring. */
export async function findSecretPlace(
  { configFolder }: SecretSources,
  name: string,
  profile: StoredProfile,
): Promise<SecretPlace | null> {
  if (profile.secret_in === "keyring") return "keyring";
  return (await readFromFile(configFolder, name, profile)) === undefined ? null : "file";
}

/**
 * Reads the secret of a profile. Returns undefined if none is stored.
 * @throws UserError `auth` if the secret is in the keyring, but cannot be read
 */
export async function readSecret(
  sources: SecretSources,
  name: string,
  profile: StoredProfile,
): Promise<string | undefined> {
  if (profile.secret_in !== "keyring") return readFromFile(sources.configFolder, name, profile);
  const result = await callKeyring(sources, "read", accountOf(name, profile));
  if ("value" in result) return result.value ?? undefined;
  throw new UserError(
    "auth",
    `cannot read the secret of ${name} from the system keyring: ${result.error}`,
    `Unlock the keyring, or sign in again and store the secret in a file: \`STARPOST_KEYRING=off starpost auth login --profile ${name}\`.`,
  );
}

/** Where a secret was stored. */
export interface SavedSecret {
  readonly place: SecretPlace;
  /** Why it could not be stored in the keyring, if there is one. */
  readonly keyringError?: string | undefined;
}

/** Tries to store a secret in the keyring. If that fails, the caller must store it in the file. */
export async function saveToKeyring(
  sources: SecretSources,
  name: string,
  profile: StoredProfile,
  secret: string,
): Promise<SavedSecret> {
  const result = await callKeyring(sources, "write", accountOf(name, profile), secret);
  if ("value" in result) return { place: "keyring" };
  return { place: "file", ...(result.isAvailable && { keyringError: result.error }) };
}

/** Stores a secret in the file, or deletes it there if it is in the keyring. The caller must hold the lock of the profiles. */
export async function updateFile(
  { configFolder }: SecretSources,
  name: string,
  profile: StoredProfile,
  { place, secret }: { readonly place: SecretPlace; readonly secret: string },
): Promise<void> {
  if (place !== "file") return void (await removeFromFile(configFolder, name));
  const target = isDatabase(profile)
    ? { database: profile.database }
    : { base_url: profile.base_url, app_key: profile.app_key };
  const secrets = { ...(await readSecrets(configFolder)), [name]: { ...target, secret } };
  await writeSettings(secretFileOf(configFolder), secrets);
}

/**
 * Deletes the secret of a profile from the keyring.
 * @returns whether there was one
 * @throws UserError `failed` if it may still be there
 */
export async function removeFromKeyring(
  sources: SecretSources,
  name: string,
  profile: StoredProfile,
): Promise<boolean> {
  if (!isInKeyring(profile)) return false;
  const result = await callKeyring(sources, "remove", accountOf(name, profile));
  if ("value" in result) return result.value !== null;
  throw failedError(
    `cannot delete the secret of ${name} from the system keyring: ${result.error}`,
    "Unlock the keyring, and try again.",
  );
}

/** Whether the keyring contains a secret of the profile, current or earlier. */
export function isInKeyring(profile: StoredProfile): boolean {
  return profile.secret_in === "keyring" || profile.left_in_keyring === true;
}

type KeyringResult = { readonly value: string | null } | { readonly error: string; readonly isAvailable: boolean };

async function callKeyring(
  { env, hasPerson = () => false }: SecretSources,
  action: "read" | "write" | "remove",
  account: string,
  secret?: string,
): Promise<KeyringResult> {
  const { findKeyring, isKeyringOff } = await import("./keyring.ts");
  const keyring = findKeyring(env, hasPerson);
  if (!keyring) {
    const error = isKeyringOff(env) ? "disabled by STARPOST_KEYRING" : "not available in this session";
    return { error, isAvailable: false };
  }
  const response = await keyring({ action, account, secret });
  if (response.outcome === "done") return { value: response.value };
  if (response.outcome === "absent") return { error: "@napi-rs/keyring is not installed", isAvailable: false };
  return { error: response.why, isAvailable: true };
}

/** The name shown in the keyring. Contains the ID, because two homes may have the same profile for the same account. */
function accountOf(name: string, profile: StoredProfile): string {
  return `${targetOf(profile)} (${name} ${profile.id ?? ""})`;
}

/** Secrets by the names of their profiles, each with the account or database that it belongs to. */
type StoredSecrets = Readonly<Record<string, StoredProfile & { readonly secret: string }>>;

export function secretFileOf(configFolder: string): string {
  return join(configFolder, "credentials.json");
}

/** Reads the secret of a profile, if it belongs to the same account or database. */
async function readFromFile(configFolder: string, name: string, profile: StoredProfile): Promise<string | undefined> {
  const secrets = await readSecrets(configFolder);
  const stored = Object.hasOwn(secrets, name) ? secrets[name] : undefined;
  return stored && targetOf(stored) === targetOf(profile) ? stored.secret : undefined;
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

async function readSecrets(configFolder: string): Promise<StoredSecrets> {
  return ((await readSettings(secretFileOf(configFolder), parseObject, signInHint)) ?? {}) as StoredSecrets;
}
