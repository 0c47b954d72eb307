import { type Cipher, createCipheriv } from "node:crypto";
import { readFile } from "node:fs/promises";
import { ReadableStream } from "node:stream/web";
import { refuseExposedFile } from "../config/private-file.ts";
import { failedError, invalidValue, toInputError, usageError } from "../config/user-error.ts";

/** How a file begins that is encrypted with age. Source: age-encryption.org/v1 */
export const ageMark = Buffer.from("age-encryption.org/v1\n");

/** A header has 200 bytes per recipient. More than the header may be read at once. */
const maxHeaderBytes = 4_194_304;

/** Secret keys, and the file that contained them. */
export interface Identity {
  readonly file: string;
  readonly keys: readonly string[];
}

type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/**
 * Refuses public keys that are not valid, or whose secret keys cannot be used to restore.
 * @throws UserError `usage`
 */
export async function checkRecipients(recipients: readonly string[]): Promise<void> {
  await createEncrypter(recipients);
}

async function createEncrypter(recipients: readonly string[]) {
  const { Encrypter } = await import("age-encryption");
  const encrypter = new Encrypter();
  for (const recipient of recipients) {
    if (/^age-secret-key-/i.test(recipient)) {
      throw usageError("--recipient must be a public key, but is a secret key", "`age-keygen -y <file>` prints it.");
    }
    try {
      // Keys of hardware tokens: plugins of age decrypt them, which starpost does not run.
      if (recipient.startsWith("age1tag")) throw new Error("not supported");
      encrypter.addRecipient(recipient);
    } catch {
      const hint =
        "`age-keygen -o <file>` creates a key and prints its public key. Keys of SSH and plugins are not supported.";
      throw invalidValue(recipient, "--recipient", "a public key of age (age1…)", hint);
    }
  }
  return encrypter;
}

function toStream(chunks: Chunks): globalThis.ReadableStream<Uint8Array> {
  return ReadableStream.from(chunks);
}

/** Encrypts for each of the public keys; without any, passes the content on. */
export async function* encrypt(chunks: Chunks, recipients: readonly string[] = []): AsyncGenerator<Uint8Array> {
  if (recipients.length === 0) yield* chunks;
  else yield* await (await createEncrypter(recipients)).encrypt(toStream(chunks));
}

/**
 * Decrypts what begins with `ageMark`.
 * @param path the file, for errors
 * @throws UserError without the right identity; an error without a code if the content is damaged
 */
export async function* decrypt(chunks: Chunks, path: string, identity?: Identity): AsyncGenerator<Uint8Array> {
  if (!identity) throw usageError(`${path} is encrypted`, "Pass the file with the secret key: --identity <file>.");
  const { Decrypter } = await import("age-encryption");
  const decrypter = new Decrypter();
  for (const key of identity.keys) decrypter.addIdentity(key);
  const header = new HeaderLimit();
  const decrypted = await decrypter.decrypt(toStream(header.watch(chunks))).catch((error: Error) => {
    if (!error.message.startsWith("no identity matched")) throw error;
    throw failedError(
      `${path} cannot be decrypted with ${identity.file}: it is encrypted for other keys`,
      "Pass the identity that belongs to a --recipient of the backup.",
      error,
    );
  });
  header.isRead = true;
  yield* decrypted;
}

/** Limits what is read before the header is complete, because the package reads all of it into memory. */
class HeaderLimit {
  isRead = false;

  async *watch(chunks: Chunks): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (!this.isRead && bytes > maxHeaderBytes) throw new Error("the header is too large");
      yield chunk;
    }
  }
}

/**
 * Reads the secret keys in an identity file of age.
 * @throws UserError also if other users can read the file
 */
export async function readIdentity(file: string): Promise<Identity> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw toInputError(error, file);
  });
  refuseExposedFile(file);
  if (text.startsWith(ageMark.toString()) || text.startsWith("-----BEGIN AGE ENCRYPTED FILE-----")) {
    throw failedError(
      `${file} is protected by a passphrase, which starpost does not ask for`,
      `Pass its content, in bash: --identity <(age --decrypt '${file}')`,
    );
  }
  const keys = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
  const { Decrypter } = await import("age-encryption");
  try {
    if (keys.length === 0) throw new Error("no key");
    const decrypter = new Decrypter();
    for (const key of keys) decrypter.addIdentity(key);
  } catch (error) {
    const hint = "It must contain secret keys of age (AGE-SECRET-KEY-…). Keys of SSH and plugins are not supported.";
    throw failedError(`${file} is not an identity file`, hint, error);
  }
  return { file, keys };
}

/** Encrypts and decrypts a temporary file with a key that exists only in memory. */
export function createMask(random: (bytes: number) => Buffer): () => Cipher {
  const key = random(32);
  // Each key encrypts one file, so the counter may begin at 0.
  return () => createCipheriv("aes-256-ctr", key, Buffer.alloc(16));
}
