import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { readFileIfThere, writePrivateFile } from "./private-file.ts";

/** A utoken and the end of its life, in milliseconds. */
export interface KeptToken {
  readonly utoken: string;
  readonly expiresAtMs: number;
}

/** What a token belongs to; a token is never used for another. */
export interface TokenOwner {
  readonly profile: string;
  /** The service's address, or the database's path. */
  readonly target: string;
  readonly appKey: string;
  /** Nothing where none is known. */
  readonly secret: string | undefined;
}

/** Where one account's token is kept between runs. */
export interface TokenStore {
  /** The kept token, or nothing; a file that cannot be understood is no token. */
  read(): Promise<KeptToken | undefined>;
  write(token: KeptToken): Promise<void>;
  clear(): Promise<void>;
}

/** Keeps a token in a file. A digest of all that it belongs to names it, so that a changed environment finds none. */
export function createTokenStore(tokensFolder: string, owner: TokenOwner): TokenStore {
  const digest = createHash("sha256")
    .update(JSON.stringify([owner.profile, owner.target, owner.appKey, owner.secret]))
    .digest("hex");
  const path = join(tokensFolder, `${digest.slice(0, 32)}.json`);
  return {
    read: async () => {
      const text = await readFileIfThere(path);
      return text === undefined ? undefined : parseToken(text);
    },
    write: async ({ utoken, expiresAtMs }) => {
      const kept = { utoken, expires_at: new Date(expiresAtMs).toISOString() };
      await writePrivateFile(path, `${JSON.stringify(kept)}\n`);
    },
    clear: () => rm(path, { force: true }),
  };
}

function parseToken(text: string): KeptToken | undefined {
  try {
    const { utoken, expires_at } = JSON.parse(text) as { utoken?: unknown; expires_at?: unknown };
    const expiresAtMs = typeof expires_at === "string" ? Date.parse(expires_at) : Number.NaN;
    return typeof utoken === "string" && !Number.isNaN(expiresAtMs) ? { utoken, expiresAtMs } : undefined;
  } catch {
    return undefined;
  }
}
