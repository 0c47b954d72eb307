import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from "node:crypto";
import { ServiceError } from "../../contract/index.ts";

/** Encrypts texts for storage in the database. */
export interface Sealer {
  readonly seal: (text: string) => string;
  /** @throws ServiceError `storageFailed` if the text was sealed with another key or is damaged */
  readonly open: (sealed: string) => string;
  /** Returns a keyed hash of a text: 32 hexadecimal digits, always the same for the same text and key. */
  readonly mark: (text: string) => string;
  /** Returns the hashes of a text with the current key and all earlier ones. */
  readonly allMarks: (text: string) => readonly string[];
  /** How every text starts that is sealed with the current key. */
  readonly prefix: () => string;
}

const algorithm = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;
const keyBytes = 32;
const version = "v1";

/** One of the keys of a sealer. */
interface SealingKey {
  readonly key: Buffer;
  /** Identifies the key without revealing it, to distinguish a wrong key from a damaged text. */
  readonly id: string;
  readonly markKey: Buffer;
}

/**
 * Seals with AES-256-GCM; a sealed text is `v1.<key ID>.<base64url of nonce, tag and cipher text>`.
 * @param source one or several keys of 32 bytes, concatenated, or a function that returns them: the first one seals, and
 *   the others only open what was sealed before they were replaced
 */
export function createSealer(source: Buffer | (() => Buffer)): Sealer {
  const read = typeof source === "function" ? source : () => source;
  let bytes = read();
  let keys = readKeys(bytes);
  const load = (): readonly [SealingKey, ...SealingKey[]] => {
    const latest = read();
    if (latest !== bytes) [bytes, keys] = [latest, readKeys(latest)];
    return keys;
  };
  const markWith = ({ markKey }: SealingKey, text: string) =>
    createHmac("sha256", markKey).update(text).digest("hex").slice(0, 32);
  return {
    seal: (text) => {
      const [{ key, id }] = load();
      // Never injected, because reusing a nonce with the same key would reveal the text.
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, key, nonce);
      const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      const body = Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString("base64url");
      return `${version}.${id}.${body}`;
    },
    open: (sealed) => {
      const [sealedVersion, sealedId, body = ""] = sealed.split(".");
      if (sealedVersion !== version) throw cannotOpen("has a format that this version does not support");
      const found = keys.find(({ id }) => id === sealedId) ?? load().find(({ id }) => id === sealedId);
      if (!found) throw cannotOpen("was sealed with another key");
      return unseal(found.key, Buffer.from(body, "base64url"));
    },
    mark: (text) => markWith(load()[0], text),
    allMarks: (text) => load().map((key) => markWith(key, text)),
    prefix: () => `${version}.${load()[0].id}.`,
  };
}

function readKeys(bytes: Buffer): readonly [SealingKey, ...SealingKey[]] {
  if (bytes.length === 0 || bytes.length % keyBytes !== 0) {
    throw new ServiceError(
      "storageFailed",
      `invalid sealing key: must have ${keyBytes} bytes, but has ${bytes.length}`,
    );
  }
  const [first, ...others] = Array.from({ length: bytes.length / keyBytes }, (_, at) => {
    const key = bytes.subarray(at * keyBytes, (at + 1) * keyBytes);
    const id = createHash("sha256").update("starpost sealing key ").update(key).digest("hex").slice(0, 8);
    return { key, id, markKey: createHmac("sha256", key).update("starpost marks").digest() };
  });
  return [first as SealingKey, ...others];
}

function unseal(key: Buffer, body: Buffer): string {
  try {
    const decipher = createDecipheriv(algorithm, key, body.subarray(0, nonceBytes), {
      authTagLength: tagBytes,
    });
    decipher.setAuthTag(body.subarray(nonceBytes, nonceBytes + tagBytes));
    const text = decipher.update(body.subarray(nonceBytes + tagBytes));
    return Buffer.concat([text, decipher.final()]).toString("utf8");
  } catch (error) {
    throw cannotOpen("is damaged", error);
  }
}

function cannotOpen(why: string, cause?: unknown): ServiceError {
  return new ServiceError("storageFailed", `the account's secret ${why}`, {
    hint: "use the key that the database was created with (its key file, or STARPOST_KEY)",
    cause,
  });
}
