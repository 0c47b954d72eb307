import { join } from "node:path";
import type { Paths } from "./paths.ts";
import { readSettings, writeSettings } from "./private-file.ts";

/** The DKIM key with which this machine signs emails, as stored in the config folder. */
export interface StoredDkimKey {
  /** The domain of the sender, in ASCII. */
  readonly domain: string;
  readonly selector: string;
  /** SubjectPublicKeyInfo, base64-encoded, as in DNS. */
  readonly publicKey: string;
  /** PKCS #8 in PEM format, sealed with the sealing key. */
  readonly privateKeySealed: string;
}

type Places = Pick<Paths, "configFolder">;

export function dkimFileOf({ configFolder }: Places): string {
  return join(configFolder, "dkim.json");
}

/** @throws UserError `failed` */
export function readDkimKey(paths: Places): Promise<StoredDkimKey | undefined> {
  const hint = "Restore the file from a backup, or delete it and run `starpost mail dkim create`.";
  return readSettings(dkimFileOf(paths), parseKey, hint);
}

function parseKey(text: string): StoredDkimKey {
  const { domain, selector, publicKey, privateKeySealed } = JSON.parse(text) as StoredDkimKey;
  const isComplete = [domain, selector, publicKey, privateKeySealed].every((value) => typeof value === "string");
  if (!isComplete) throw new TypeError("not a string");
  return { domain, selector, publicKey, privateKeySealed };
}

/** Replaces the stored key. Only the owner can read the file. */
export function writeDkimKey(paths: Places, key: StoredDkimKey): Promise<void> {
  return writeSettings(dkimFileOf(paths), key);
}
