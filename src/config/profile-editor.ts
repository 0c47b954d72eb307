import type { Paths } from "./paths.ts";
import { builtInNames, unknownProfile } from "./profile-name.ts";
import {
  changeProfiles,
  findStored,
  readProfiles,
  type StoredAccount,
  type StoredDatabase,
  type StoredProfile,
  type StoredProfiles,
  targetOf,
} from "./profile-store.ts";
import {
  removeFromFile,
  isInKeyring,
  type SavedSecret,
  saveToKeyring,
  readSecret,
  removeFromKeyring,
  type SecretPlace,
  type SecretSources,
  updateFile,
} from "./secret-store.ts";
import { deleteTokens } from "./token-file.ts";

type Places = SecretSources & { readonly paths: Pick<Paths, "tokensFolder"> };

/** A profile to create or update. Without `secret`, the stored secret is kept. */
export interface ProfileInput {
  readonly name: string;
  /** Distinguishes it from other profiles with the same name. */
  readonly id: string;
  readonly target: Pick<StoredAccount, "base_url" | "app_key"> | Pick<StoredDatabase, "database">;
  readonly isLive: boolean;
  readonly secret?: string | undefined;
  readonly becomesCurrent: boolean;
}

/**
 * Creates or replaces a profile. If the name was used for another account, deletes that account's secret and tokens.
 * @returns where the secret was stored, if there is one
 */
export async function saveProfile(places: Places, input: ProfileInput): Promise<SavedSecret | undefined> {
  const { name, id, target, isLive, secret } = input;
  const { configFolder } = places;
  const former = findStored(await readProfiles(configFolder), name);
  const isSame = former !== undefined && targetOf(former) === targetOf(target);
  const by = isSame && former.by !== undefined && { by: former.by };
  const fields = { ...target, id, ...(isLive && { live: true as const }), ...by };
  if (former && !isSame) await deleteCredentials(places, name, former);
  // Before taking the lock, because the user may have to unlock the keyring.
  const saved = secret === undefined ? undefined : await saveToKeyring(places, name, fields, secret);
  const usesKeyring = saved ? saved.place === "keyring" : isSame && former.secret_in === "keyring";
  const isLeftInKeyring = !usesKeyring && isSame && isInKeyring(former);
  const profile: StoredProfile = {
    ...fields,
    ...(usesKeyring && { secret_in: "keyring" as const }),
    ...(isLeftInKeyring && { left_in_keyring: true as const }),
  };
  await changeProfiles(configFolder, async (stored) => {
    if (saved && secret !== undefined) await updateFile(places, name, profile, { ...saved, secret });
    return {
      current: input.becomesCurrent ? name : stored.current,
      profiles: { ...stored.profiles, [name]: profile },
    };
  });
  return saved;
}

export interface DeletedCredentials {
  readonly secretFrom: readonly SecretPlace[];
  readonly tokens: number;
}

/**
 * Deletes the secret and the cached tokens of a profile, but keeps the profile.
 * @throws UserError `failed` if the secret cannot be deleted from the keyring; everything else is deleted anyway
 */
export async function deleteSecret(places: Places, name: string, profile: StoredProfile): Promise<DeletedCredentials> {
  const { configFolder } = places;
  const secret = profile.secret_in === "keyring" ? undefined : await readSecret(places, name, profile);
  const tokens = await deleteTokens(places.paths.tokensFolder, { profile, name, secret });
  let wasInFile = false;
  await changeProfiles(configFolder, async (stored) => {
    wasInFile = await removeFromFile(configFolder, name);
    return stored;
  });
  const wasInKeyring = await removeFromKeyring(places, name, profile);
  if (isInKeyring(profile)) {
    await changeProfiles(configFolder, (stored) => withProfile(stored, name, withoutSecretPlace(stored, name)));
  }
  const secretFrom = [wasInKeyring && "keyring", wasInFile && "file"].filter((place) => place !== false);
  return { secretFrom: secretFrom as SecretPlace[], tokens };
}

/**
 * Deletes a profile and its credentials.
 * @returns the deleted credentials, and whether the profile was the current one, which is now `local`
 */
export async function deleteProfile(
  places: Places,
  name: string,
  profile: StoredProfile,
): Promise<DeletedCredentials & { readonly wasCurrent: boolean }> {
  const deleted = await deleteSecret(places, name, profile);
  let wasCurrent = false;
  await changeProfiles(places.configFolder, (stored) => {
    wasCurrent = stored.current === name;
    return withProfile({ ...stored, current: wasCurrent ? undefined : stored.current }, name, undefined);
  });
  return { ...deleted, wasCurrent };
}

/**
 * Sets the profile to use by default.
 * @throws UserError `usage` if the profile does not exist
 */
export async function setCurrentProfile(configFolder: string, name: string): Promise<void> {
  await changeProfiles(configFolder, (stored) => {
    const { profiles } = stored;
    if (name === builtInNames.local) return { current: undefined, profiles };
    if (!findStored(stored, name)) throw unknownProfile(name, Object.keys(profiles));
    return { current: name, profiles };
  });
}

/** What can be changed about a profile. Fields that are undefined stay as they are. */
export interface ProfileChange {
  readonly isLive?: boolean | undefined;
  /** An empty name removes it. */
  readonly by?: string | undefined;
}

export async function changeProfile(configFolder: string, name: string, change: ProfileChange): Promise<void> {
  await changeProfiles(configFolder, (stored) => {
    const profile = findStored(stored, name);
    if (!profile) return stored;
    const { live, by: formerBy = "", ...others } = profile;
    const { isLive = live === true, by = formerBy } = change;
    return withProfile(stored, name, { ...others, ...(isLive && { live: true }), ...(by !== "" && { by }) });
  });
}

/** Deletes the credentials of the account that a profile was used for before. A locked keyring is not an error. */
async function deleteCredentials(places: Places, name: string, former: StoredProfile): Promise<void> {
  await deleteTokens(places.paths.tokensFolder, { profile: former, name, secret: undefined });
  await removeFromKeyring(places, name, former).catch(() => false);
}

function withProfile(
  { current, profiles }: StoredProfiles,
  name: string,
  profile: StoredProfile | undefined,
): StoredProfiles {
  const { [name]: _former, ...others } = profiles;
  return { current, profiles: profile ? { ...profiles, [name]: profile } : others };
}

function withoutSecretPlace(stored: StoredProfiles, name: string): StoredProfile | undefined {
  const profile = findStored(stored, name);
  if (!profile) return undefined;
  const { secret_in: _place, left_in_keyring: _left, ...others } = profile;
  return others;
}
