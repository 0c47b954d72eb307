import { createHash, timingSafeEqual } from "node:crypto";
import type { RandomBytes } from "./handler.ts";

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const keyLength = 40;
/** Bytes from here on are discarded, so that all characters are equally likely. */
const fairBytes = 256 - (256 % alphabet.length);

/** Creates an app key, a secret, or a token. Assumed: 40 letters and digits; the specification shows no format. */
export function createKey(random: RandomBytes): string {
  let key = "";
  while (key.length < keyLength) {
    for (const byte of random(keyLength)) {
      if (byte < fairBytes && key.length < keyLength) key += alphabet[byte % alphabet.length];
    }
  }
  return key;
}

/** Hashes a token for storage, so that it cannot be used by someone who reads the database. */
export function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

/** Compares two secrets in constant time. */
export function isSameSecret(actual: string, expected: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(actual), digest(expected));
}
