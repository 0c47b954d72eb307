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
import { removeFromFile } from "./secret-file.ts";
import {
  isInKeyring,
  type KeptSecret,
  offerToKeyring,
  readSecret,
  removeFromKeyring,
  type SecretPlace,
  type SecretSources,
  settleFile,
} from "./secret-store.ts";
import { forgetTokens } from "./token-file.ts";

type Places = SecretSources & { readonly paths: Pick<Paths, "tokensFolder"> };

/** A profile as it is to be; a secret that is not given stays as it is. */
export interface WantedProfile {
  readonly name: string;
  /** Tells it from others of its name. */
  readonly id: string;
  readonly target: Pick<StoredAccount, "base_url" | "app_key"> | Pick<StoredDatabase, "database">;
  readonly isLive: boolean;
  readonly secret?: string | undefined;
  readonly becomesCurrent: boolean;
}

/**
 * Remembers a profile. A secret and tokens of another account under its name are forgotten.
 * @returns where the secret was put, if one was given
 */
export async function rememberProfile(
  places: Places,
  wanted: WantedProfile,
): Promise<KeptSecret | undefined> {
  const { name, id, target, isLive, secret } = wanted;
  const { configFolder } = places;
  const former = findStored(await readProfiles(configFolder), name);
  const isSame = former !== undefined && targetOf(former) === targetOf(target);
  const marked = { ...target, id, ...(isLive && { live: true as const }) };
  if (former && !isSame) await forgetAccount(places, name, former);
  // Before the guard is taken: a person may have to unlock the keyring.
  const kept = secret === undefined ? undefined : await offerToKeyring(places, name, marked, secret);
  const isKept = kept ? kept.place === "keyring" : isSame && former.secret_in === "keyring";
  const isLeft = !isKept && isSame && isInKeyring(former);
  const profile: StoredProfile = {
    ...marked,
    ...(isKept && { secret_in: "keyring" as const }),
    ...(isLeft && { left_in_keyring: true as const }),
  };
  await changeProfiles(configFolder, async (stored) => {
    if (kept && secret !== undefined) await settleFile(places, name, profile, { ...kept, secret });
    return {
      current: wanted.becomesCurrent ? name : stored.current,
      profiles: { ...stored.profiles, [name]: profile },
    };
  });
  return kept;
}

/** What was forgotten of a profile. */
export interface Forgotten {
  readonly secretFrom: readonly SecretPlace[];
  readonly tokens: number;
}

/**
 * Forgets the secret and the tokens of a profile, which stays.
 * @throws UserError `failed` where the keyring does not let go of the secret; all else is forgotten then, too
 */
export async function forgetSecret(places: Places, name: string, profile: StoredProfile): Promise<Forgotten> {
  const { configFolder } = places;
  const secret = profile.secret_in === "keyring" ? undefined : await readSecret(places, name, profile);
  const tokens = await forgetTokens(places.paths.tokensFolder, { profile, name, secret });
  let isInFile = false;
  await changeProfiles(configFolder, async (stored) => {
    isInFile = await removeFromFile(configFolder, name);
    return stored;
  });
  const wasInKeyring = await removeFromKeyring(places, name, profile);
  if (isInKeyring(profile)) {
    await changeProfiles(configFolder, (stored) => withProfile(stored, name, withoutPlace(stored, name)));
  }
  const secretFrom = [wasInKeyring && "keyring", isInFile && "file"].filter((place) => place !== false);
  return { secretFrom: secretFrom as SecretPlace[], tokens };
}

/**
 * Forgets a profile and all that is kept of it.
 * @returns what was forgotten, and whether it was the current one: `local` is, then
 */
export async function removeProfile(
  places: Places,
  name: string,
  profile: StoredProfile,
): Promise<Forgotten & { readonly wasCurrent: boolean }> {
  const forgotten = await forgetSecret(places, name, profile);
  let wasCurrent = false;
  await changeProfiles(places.configFolder, (stored) => {
    wasCurrent = stored.current === name;
    return withProfile({ ...stored, current: wasCurrent ? undefined : stored.current }, name, undefined);
  });
  return { ...forgotten, wasCurrent };
}

/**
 * Makes a profile the one that is used where nothing names another.
 * @throws UserError `usage` where another process has removed it meanwhile
 */
export async function makeCurrent(configFolder: string, name: string): Promise<void> {
  await changeProfiles(configFolder, (stored) => {
    const { profiles } = stored;
    if (name === builtInNames.local) return { current: undefined, profiles };
    if (!findStored(stored, name)) throw unknownProfile(name, Object.keys(profiles));
    return { current: name, profiles };
  });
}

/** Says whether a shop runs on a profile. */
export async function markLive(configFolder: string, name: string, isLive: boolean): Promise<void> {
  await changeProfiles(configFolder, (stored) => {
    const profile = findStored(stored, name);
    if (!profile) return stored;
    const { live: _live, ...others } = profile;
    return withProfile(stored, name, isLive ? { ...others, live: true } : others);
  });
}

/** What is known of the account that a name stood for goes with it; a keyring that is locked is no reason to stop. */
async function forgetAccount(places: Places, name: string, former: StoredProfile): Promise<void> {
  await forgetTokens(places.paths.tokensFolder, { profile: former, name, secret: undefined });
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

function withoutPlace(stored: StoredProfiles, name: string): StoredProfile | undefined {
  const profile = findStored(stored, name);
  if (!profile) return undefined;
  const { secret_in: _place, left_in_keyring: _left, ...others } = profile;
  return others;
}
