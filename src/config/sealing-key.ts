import { constants, readFileSync, statSync } from "node:fs";
import { copyFile, link, rm } from "node:fs/promises";
import { type Environment, readVariable } from "./environment.ts";
import { readFileIfExists, refuseExposedFile, writePrivateFile } from "./private-file.ts";
import { codeOf, failedError, toFileError, usageError } from "./user-error.ts";

const keyBytes = 32;

/**
 * Reads the keys from `STARPOST_KEY` or from their file: the current key, followed by those that it replaced. Returns
 * undefined if there is neither.
 * @returns the keys, concatenated
 * @throws UserError if a key is not valid, or if other users can read the file
 */
export async function readSealingKey(env: Environment, keyFile: string): Promise<Buffer | undefined> {
  const value = readVariable(env, "STARPOST_KEY");
  if (value) {
    const keys = decodeKeys(value);
    if (keys) return keys;
    throw usageError(
      `invalid value for STARPOST_KEY: must be ${keyBytes} bytes in hexadecimal or base64, or several such keys`,
      "To generate a key, run `openssl rand -hex 32`.",
    );
  }
  const text = await readFileIfExists(keyFile);
  if (text === undefined) return undefined;
  refuseExposedFile(keyFile);
  const keys = decodeKeys(text);
  if (keys) return keys;
  throw failedError(
    `${keyFile} does not contain a key of ${keyBytes} bytes`,
    "Restore the file from a backup, or set STARPOST_KEY.",
  );
}

/**
 * Returns a function that returns the current keys: those that were read, until the file changes. Running servers thus
 * follow a rotation. If the file is damaged or deleted, the last keys stay in use.
 */
export function followSealingKey(env: Environment, keyFile: string, keys: Buffer): () => Buffer {
  if (readVariable(env, "STARPOST_KEY")) return () => keys;
  let current = keys;
  let version = readFileVersion(keyFile);
  return () => {
    const found = readFileVersion(keyFile);
    if (found === version) return current;
    version = found;
    try {
      current = decodeKeys(readFileSync(keyFile, "utf8")) ?? current;
    } catch (error) {
      if (codeOf(error) === undefined) throw error;
    }
    return current;
  };
}

function readFileVersion(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && `${found.ino} ${found.size} ${found.mtimeMs}`;
}

/**
 * Replaces the keys in the file. Anything sealed with a key that is not among them can no longer be opened.
 * @param keys concatenated, the current key first
 */
export async function writeSealingKeys(keyFile: string, keys: Buffer): Promise<void> {
  const lines = keys.toString("hex").match(new RegExp(`.{${2 * keyBytes}}`, "g")) ?? [];
  await writePrivateFile(keyFile, lines.map((line) => `${line}\n`).join(""));
}

/** Whether the environment contains the keys. Then the file is not used. */
export function hasSealingVariable(env: Environment): boolean {
  return Boolean(readVariable(env, "STARPOST_KEY"));
}

export function createNewKey(random: (bytes: number) => Buffer): Buffer {
  return random(keyBytes);
}

/** The first of several keys. */
export function currentKeyOf(keys: Buffer): Buffer {
  return keys.subarray(0, keyBytes);
}

/** Creates the key file. If another process has created it in the meantime, returns that key. */
export async function createSealingKey(keyFile: string, random: (bytes: number) => Buffer): Promise<Buffer> {
  const draft = `${keyFile}.${random(4).readUInt32BE(0)}`;
  try {
    await writePrivateFile(draft, `${random(keyBytes).toString("hex")}\n`);
    await publishOnce(draft, keyFile);
  } finally {
    await rm(draft, { force: true });
  }
  const key = await readSealingKey({}, keyFile);
  if (!key) {
    throw failedError(`${keyFile} was deleted while it was being created`, "Try again.");
  }
  return key;
}

/** Publishes a complete file under its final name, unless that name exists. */
async function publishOnce(draft: string, path: string): Promise<void> {
  try {
    await link(draft, path).catch(async (error: unknown) => {
      if (codeOf(error) === "EEXIST") return;
      // Some file systems do not support hard links.
      await copyFile(draft, path, constants.COPYFILE_EXCL);
    });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw toFileError(error, path);
  }
}

/** Decodes keys, separated by line breaks or commas. Returns undefined if the text contains an invalid key or no key. */
function decodeKeys(text: string): Buffer | undefined {
  const parts = text.split(/[\s,]+/).filter((part) => part !== "");
  const keys = parts.map(decodeKey);
  return keys.length > 0 && keys.every((key) => key !== undefined) ? Buffer.concat(keys) : undefined;
}

function decodeKey(text: string): Buffer | undefined {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, "hex");
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return undefined;
  const key = Buffer.from(text, "base64");
  return key.length === keyBytes ? key : undefined;
}
