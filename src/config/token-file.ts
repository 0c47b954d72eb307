import { createHash } from "node:crypto";
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
  readonly secret: string;
}

/** Where the token of one account is kept. A digest of all four names it, so that a changed environment finds none. */
export function tokenFile(tokensFolder: string, owner: TokenOwner): string {
  const digest = createHash("sha256")
    .update(JSON.stringify([owner.profile, owner.target, owner.appKey, owner.secret]))
    .digest("hex");
  return join(tokensFolder, `${digest.slice(0, 32)}.json`);
}

/** The kept token, or nothing; a file that cannot be understood is no token. */
export async function readToken(path: string): Promise<KeptToken | undefined> {
  const text = await readFileIfThere(path);
  if (text === undefined) return undefined;
  try {
    const { utoken, expires_at } = JSON.parse(text) as { utoken?: unknown; expires_at?: unknown };
    const expiresAtMs = typeof expires_at === "string" ? Date.parse(expires_at) : Number.NaN;
    return typeof utoken === "string" && !Number.isNaN(expiresAtMs) ? { utoken, expiresAtMs } : undefined;
  } catch {
    return undefined;
  }
}

export async function writeToken(path: string, token: KeptToken): Promise<void> {
  const kept = { utoken: token.utoken, expires_at: new Date(token.expiresAtMs).toISOString() };
  await writePrivateFile(path, `${JSON.stringify(kept)}\n`);
}
