import { createHash } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { withFileGuard } from "./file-guard.ts";
import { readFileIfThere, writePrivateFile } from "./private-file.ts";
import { isDatabase, type StoredProfile } from "./profile-store.ts";

/** A utoken and the end of its life, in milliseconds. */
export interface StoredToken {
  readonly utoken: string;
  /** Nothing where it is not known: of a token that was given. */
  readonly expiresAtMs: number | undefined;
}

/** What a token belongs to; a token is never used for another. */
export interface TokenOwner {
  readonly profile: string;
  /** The service's address, or the database's path. */
  readonly target: string;
  readonly appKey: string;
  /** Tells one login from another: the profile's own id, or the secret where there is none. */
  readonly mark: string | undefined;
}

/** Where one account's token is kept between runs. */
export interface TokenStore {
  /** The kept token, or nothing; a file that cannot be understood is no token. */
  read(): Promise<StoredToken | undefined>;
  write(token: StoredToken): Promise<void>;
  clear(): Promise<void>;
  /** Does what no two processes may do at once with this token; it is done in any case. */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
}

/** How long one process waits for the token that another is fetching, milliseconds. */
const guardWaitMs = 10_000;

/** Keeps a token in a file. A digest of all that it belongs to names it, so that a changed environment finds none. */
export function createTokenStore(tokensFolder: string, owner: TokenOwner): TokenStore {
  const path = join(tokensFolder, `${digestOf(owner)}.json`);
  return {
    read: async () => {
      const text = await readFileIfThere(path);
      return text === undefined ? undefined : parseToken(text);
    },
    write: async ({ utoken, expiresAtMs }) => {
      if (expiresAtMs === undefined) return;
      const kept = { utoken, expires_at: new Date(expiresAtMs).toISOString(), profile: owner.profile };
      await writePrivateFile(path, `${JSON.stringify(kept)}\n`);
    },
    clear: () => rm(path, { force: true }),
    exclusively: (work) =>
      withFileGuard(path.replace(/json$/, "lock"), work, { waitMs: guardWaitMs, isOptional: true }),
  };
}

/**
 * Forgets the kept tokens of a stored profile.
 * @param found its secret names those of a former version, which do not say whose they are
 * @returns how many there were
 */
export async function forgetTokens(
  tokensFolder: string,
  found: { readonly name: string; readonly profile: StoredProfile; readonly secret: string | undefined },
): Promise<number> {
  const { name, profile, secret } = found;
  const unnamed =
    isDatabase(profile) || secret === undefined
      ? undefined
      : digestOf({ profile: name, target: profile.base_url, appKey: profile.app_key, mark: secret });
  const files = await readdir(tokensFolder).catch(() => []);
  let forgotten = 0;
  for (const file of files.filter((one) => one.endsWith(".json"))) {
    const path = join(tokensFolder, file);
    const text = await readFileIfThere(path);
    const isOurs = file === `${unnamed}.json` || (text !== undefined && ownerOf(text) === name);
    if (!isOurs) continue;
    await rm(path, { force: true });
    forgotten += 1;
  }
  return forgotten;
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
