import { constants, statSync } from "node:fs";
import { copyFile, link, rm } from "node:fs/promises";
import { platform } from "node:os";
import { type Environment, readVariable } from "./environment.ts";
import { readFileIfExists, writePrivateFile } from "./private-file.ts";
import { toFileError, codeOf, UserError, usageError } from "./user-error.ts";

const keyBytes = 32;

/**
 * Reads the key from `STARPOST_KEY` or from its file. Returns undefined if there is neither.
 * @throws UserError if the key is not valid, or if other users can read its file
 */
export async function readSealingKey(env: Environment, keyFile: string): Promise<Buffer | undefined> {
  const value = readVariable(env, "STARPOST_KEY");
  if (value) {
    const key = decodeKey(value);
    if (key) return key;
    throw usageError(
      `invalid value for STARPOST_KEY: must be ${keyBytes} bytes in hexadecimal or base64`,
      "To generate a key, run `openssl rand -hex 32`.",
    );
  }
  const text = await readFileIfExists(keyFile);
  if (text === undefined) return undefined;
  refuseExposedFile(keyFile);
  const key = decodeKey(text.trim());
  if (key) return key;
  throw new UserError(
    "failed",
    `${keyFile} does not contain a key of ${keyBytes} bytes`,
    "Restore the file from a backup, or set STARPOST_KEY.",
  );
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
    throw new UserError("failed", `${keyFile} was deleted while it was being created`, "Try again.");
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

function refuseExposedFile(path: string): void {
  if (platform() === "win32") return;
  const mode = statSync(path).mode & 0o777;
  if ((mode & 0o077) === 0) return;
  throw new UserError(
    "failed",
    `other users can read ${path} (mode ${mode.toString(8).padStart(4, "0")})`,
    `Run \`chmod 600 ${path}\`.`,
  );
}

function decodeKey(text: string): Buffer | undefined {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, "hex");
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return undefined;
  const key = Buffer.from(text, "base64");
  return key.length === keyBytes ? key : undefined;
}
