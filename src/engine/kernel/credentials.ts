import { createHash, timingSafeEqual } from "node:crypto";
import type { RandomBytes } from "./handler.ts";

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const keyLength = 40;
/** Bytes from here on are thrown away, so that every character is as likely as every other. */
const fairBytes = 256 - (256 % alphabet.length);

/** Makes an app key, a secret or a token. Assumed: 40 letters and digits; the specification shows no form. */
export function createKey(random: RandomBytes): string {
  let key = "";
  while (key.length < keyLength) {
    for (const byte of random(keyLength)) {
      if (byte < fairBytes && key.length < keyLength) key += alphabet[byte % alphabet.length];
    }
  }
  return key;
}

/** A token as it is stored: whoever reads the database cannot use it. */
export function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

/** Compares in a time that does not tell how much of a guess was right. */
export function isSameSecret(given: string, expected: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
