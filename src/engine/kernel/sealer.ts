import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from "node:crypto";
import { ServiceError } from "../../contract/index.ts";

/** Encrypts texts for storage in the database. */
export interface Sealer {
  readonly seal: (text: string) => string;
  /** @throws ServiceError `storageFailed` if the text was sealed with another key or is damaged */
  readonly open: (sealed: string) => string;
  /** Returns a keyed hash of a text: 32 hexadecimal digits, always the same for the same text and key. */
  readonly mark: (text: string) => string;
}

const algorithm = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;
const keyBytes = 32;
const version = "v1";

/**
 * Seals with AES-256-GCM; a sealed text is `v1.<key mark>.<base64url of nonce, tag and cipher text>`.
 * @param key 32 bytes
 */
export function createSealer(key: Buffer): Sealer {
  if (key.length !== keyBytes) {
    throw new ServiceError("storageFailed", `invalid sealing key: must have ${keyBytes} bytes, but has ${key.length}`);
  }
  // Identifies the key without revealing it, to distinguish a wrong key from a damaged text.
  const mark = createHash("sha256").update("starpost sealing key ").update(key).digest("hex").slice(0, 8);
  const markKey = createHmac("sha256", key).update("starpost marks").digest();
  return {
    seal: (text) => {
      // Never injected, because reusing a nonce with the same key would reveal the text.
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, key, nonce);
      const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      const body = Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString("base64url");
      return `${version}.${mark}.${body}`;
    },
    open: (sealed) => {
      const [sealedVersion, sealedMark, body = ""] = sealed.split(".");
      if (sealedVersion !== version) throw cannotOpen("has a format that this version does not support");
      if (sealedMark !== mark) throw cannotOpen("was sealed with another key");
      return unseal(key, Buffer.from(body, "base64url"));
    },
    mark: (text) => createHmac("sha256", markKey).update(text).digest("hex").slice(0, 32),
  };
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
