import type { Environment } from "./environment.ts";
import { UserError } from "./user-error.ts";
import { type StoredProfile, targetOf } from "./profile-store.ts";
import { readFromFile, removeFromFile, writeToFile } from "./secret-file.ts";

/** Where secrets are kept on this machine. */
export type SecretPlace = "keyring" | "file";

/** What secrets are looked for in. */
export interface SecretSources {
  readonly env: Environment;
  readonly configFolder: string;
  /** Whether a person is there, who may be asked to unlock the keyring; nobody where absent. */
  readonly hasPerson?: (() => boolean) | undefined;
}

/** Where the secret of a profile is, if one is known; the keyring itself is not asked. */
export async function findSecretPlace(
  { configFolder }: SecretSources,
  name: string,
  profile: StoredProfile,
): Promise<SecretPlace | null> {
  if (profile.secret_in === "keyring") return "keyring";
  return (await readFromFile(configFolder, name, profile)) === undefined ? null : "file";
}

/**
 * The secret of a profile; nothing where none is known.
 * @throws UserError `auth` where it is in a keyring that does not give it
 */
export async function readSecret(
  sources: SecretSources,
  name: string,
  profile: StoredProfile,
): Promise<string | undefined> {
  if (profile.secret_in !== "keyring") return readFromFile(sources.configFolder, name, profile);
  const answer = await askKeyring(sources, "read", accountOf(name, profile));
  if ("value" in answer) return answer.value ?? undefined;
  throw new UserError(
    "auth",
    `the secret of ${name} is in the system's keyring, which cannot be used: ${answer.why}`,
    `Unlock it, or sign in again, for a file: STARPOST_KEYRING=off starpost auth login --profile ${name}.`,
  );
}

/** Where a secret was put, and why not in a keyring that is there. */
export interface KeptSecret {
  readonly place: SecretPlace;
  readonly whyNotKeyring?: string | undefined;
}

/** Tries to put a secret into the keyring; what does not take it is no failure: there is the file. */
export async function offerToKeyring(
  sources: SecretSources,
  name: string,
  profile: StoredProfile,
  secret: string,
): Promise<KeptSecret> {
  const answer = await askKeyring(sources, "write", accountOf(name, profile), secret);
  if ("value" in answer) return { place: "keyring" };
  return { place: "file", ...(answer.isThere && { whyNotKeyring: answer.why }) };
}

/** Puts a secret into the file, or takes it out of there where the keyring has it. The guard of the profiles is to be held. */
export async function settleFile(
  { configFolder }: SecretSources,
  name: string,
  profile: StoredProfile,
  { place, secret }: { readonly place: SecretPlace; readonly secret: string },
): Promise<void> {
  if (place === "file") await writeToFile(configFolder, name, profile, secret);
  else await removeFromFile(configFolder, name);
}

/**
 * Takes the secret of a profile out of the keyring.
 * @returns whether there was one
 * @throws UserError `failed` where it may still be there
 */
export async function removeFromKeyring(
  sources: SecretSources,
  name: string,
  profile: StoredProfile,
): Promise<boolean> {
  if (!isInKeyring(profile)) return false;
  const answer = await askKeyring(sources, "remove", accountOf(name, profile));
  if ("value" in answer) return answer.value !== null;
  throw new UserError(
    "failed",
    `the secret of ${name} is still in the system's keyring, which cannot be used: ${answer.why}`,
    "Unlock it, and try again.",
  );
}

/** Whether the keyring has a secret of the profile, be it a former one. */
export function isInKeyring(profile: StoredProfile): boolean {
  return profile.secret_in === "keyring" || profile.left_in_keyring === true;
}

type Asked = { readonly value: string | null } | { readonly why: string; readonly isThere: boolean };

async function askKeyring(
  { env, hasPerson = () => false }: SecretSources,
  action: "read" | "write" | "remove",
  account: string,
  secret?: string,
): Promise<Asked> {
  const { findKeyring, isKeyringOff } = await import("./keyring.ts");
  const ask = findKeyring(env, hasPerson);
  if (!ask) {
    const why = isKeyringOff(env) ? "STARPOST_KEYRING turns it off" : "there is none in this session";
    return { why, isThere: false };
  }
  const answer = await ask({ action, account, secret });
  if (answer.outcome === "done") return { value: answer.value };
  if (answer.outcome === "absent") return { why: "@napi-rs/keyring is not installed", isThere: false };
  return { why: answer.why, isThere: true };
}

/** As a person reads it in the keyring. Two homes may have profiles of one name for one account. */
function accountOf(name: string, profile: StoredProfile): string {
  return `${targetOf(profile)} (${name} ${profile.id ?? ""})`;
}
