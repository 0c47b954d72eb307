import Conf from "conf";
import { makePrivateFolder } from "./private-file.ts";
import { Problem } from "./problem.ts";

/** A remote account as it is remembered. */
export interface StoredProfile {
  readonly base_url: string;
  readonly app_key: string;
  /** Whether a shop runs on it. */
  readonly live?: boolean;
}

export interface StoredProfiles {
  /** The profile that is used where nothing names one. */
  readonly current?: string;
  readonly profiles: Readonly<Record<string, StoredProfile>>;
}

interface StoredSecret extends StoredProfile {
  readonly secret: string;
}

type Secrets = Readonly<Record<string, StoredSecret>>;

const fileNames = { profiles: "profiles", secrets: "credentials" } as const;

/** Everything that `auth login` has remembered, without the secrets. */
export function readProfiles(configFolder: string): StoredProfiles {
  const { current, profiles } = openStore<Partial<StoredProfiles>>(configFolder, fileNames.profiles).store;
  return { ...(current === undefined ? {} : { current }), profiles: profiles ?? {} };
}

/** The secret of a profile, as long as it is for the same account at the same address. */
export function readSecret(configFolder: string, name: string, profile: StoredProfile): string | undefined {
  const stored = openStore<Secrets>(configFolder, fileNames.secrets).store[name];
  const isSame = stored?.base_url === profile.base_url && stored.app_key === profile.app_key;
  return isSame ? stored.secret : undefined;
}

/** Remembers a profile and its secret, and makes it the current one. */
export async function saveProfile(
  configFolder: string,
  name: string,
  profile: StoredProfile,
  secret: string,
): Promise<void> {
  await makePrivateFolder(configFolder);
  openStore<Secrets>(configFolder, fileNames.secrets).set(name, { ...profile, secret });
  const { profiles } = readProfiles(configFolder);
  openStore<StoredProfiles>(configFolder, fileNames.profiles).set({
    current: name,
    profiles: { ...profiles, [name]: profile },
  });
}

function openStore<T extends object>(folder: string, name: string): Conf<T & Record<string, unknown>> {
  try {
    return new Conf<T & Record<string, unknown>>({
      cwd: folder,
      configName: name,
      configFileMode: 0o600,
      accessPropertiesByDotNotation: false,
      clearInvalidConfig: false,
    });
  } catch (error) {
    throw new Problem(
      "failed",
      `${folder}/${name}.json cannot be read: ${(error as Error).message.split("\n")[0]}`,
      "Correct the file, or remove it and sign in again.",
      error,
    );
  }
}
