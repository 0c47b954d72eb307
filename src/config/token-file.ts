import { createHash } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { readFileIfExists, writePrivateFile } from "./private-file.ts";
import { isDatabase, type StoredProfile } from "./profile-store.ts";
import { withFileLock } from "./with-file-lock.ts";

/** A utoken and its expiry. */
export interface StoredToken {
  readonly utoken: string;
  /** Undefined if unknown, as for a token from the environment. */
  readonly expiresAtMs: number | undefined;
}

/** What a token belongs to. It is never used for anything else. */
export interface TokenOwner {
  readonly profile: string;
  /** The service's address, or the database's path. */
  readonly target: string;
  readonly appKey: string;
  /** Distinguishes logins: the ID of the profile, or the secret if there is no ID. */
  readonly mark: string | undefined;
}

/** Stores the token of one account between runs. */
export interface TokenStore {
  /** Returns undefined if there is no token or the file is not valid. */
  read(): Promise<StoredToken | undefined>;
  write(token: StoredToken): Promise<void>;
  clear(): Promise<void>;
  /** Runs `work` while no other process does, if locking is possible; otherwise, runs it anyway. */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
}

/** Stores a token in a file whose name is a digest of the owner, so that a changed owner does not find it. */
export function createTokenStore(tokensFolder: string, owner: TokenOwner): TokenStore {
  const path = join(tokensFolder, `${digestOf(owner)}.json`);
  return {
    read: async () => {
      const text = await readFileIfExists(path);
      return text === undefined ? undefined : parseToken(text);
    },
    write: async ({ utoken, expiresAtMs }) => {
      if (expiresAtMs === undefined) return;
      const stored = { utoken, expires_at: new Date(expiresAtMs).toISOString(), profile: owner.profile };
      await writePrivateFile(path, `${JSON.stringify(stored)}\n`);
    },
    clear: () => rm(path, { force: true }),
    exclusively: (work) => withFileLock(path.replace(/json$/, "lock"), work, { isOptional: true }),
  };
}

/**
 * Deletes the cached tokens of a stored profile.
 * @param found.secret identifies the tokens of earlier versions, which do not contain the name of the profile
 * @returns the number of deleted tokens
 */
export async function deleteTokens(
  tokensFolder: string,
  found: { readonly name: string; readonly profile: StoredProfile; readonly secret: string | undefined },
): Promise<number> {
  const { name, profile, secret } = found;
  const unnamed =
    isDatabase(profile) || secret === undefined
      ? undefined
      : digestOf({ profile: name, target: profile.base_url, appKey: profile.app_key, mark: secret });
  const files = await readdir(tokensFolder).catch(() => []);
  let deleted = 0;
  for (const file of files.filter((one) => one.endsWith(".json"))) {
    const path = join(tokensFolder, file);
    const text = await readFileIfExists(path);
    const isOwn = file === `${unnamed}.json` || (text !== undefined && ownerOf(text) === name);
    if (!isOwn) continue;
    await rm(path, { force: true });
    deleted += 1;
  }
  return deleted;
}

function digestOf({ profile, target, appKey, mark }: TokenOwner): string {
  const digest = createHash("sha256").update(JSON.stringify([profile, target, appKey, mark]));
  return digest.digest("hex").slice(0, 32);
}

function ownerOf(text: string): unknown {
  try {
    return (JSON.parse(text) as { profile?: unknown }).profile;
  } catch {
    return undefined;
  }
}

function parseToken(text: string): StoredToken | undefined {
  try {
    const { utoken, expires_at } = JSON.parse(text) as { utoken?: unknown; expires_at?: unknown };
    const expiresAtMs = typeof expires_at === "string" ? Date.parse(expires_at) : Number.NaN;
    return typeof utoken === "string" && !Number.isNaN(expiresAtMs) ? { utoken, expiresAtMs } : undefined;
  } catch {
    return undefined;
  }
}
