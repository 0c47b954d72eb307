import { constants } from "node:fs";
import { copyFile, link, rm, stat } from "node:fs/promises";
import { platform } from "node:os";
import { type Environment, readVariable } from "./environment.ts";
import { readFileIfThere, writePrivateDraft } from "./private-file.ts";
import { toFileError, codeOf, UserError } from "./user-error.ts";

const keyBytes = 32;

/**
 * The key from `STARPOST_KEY`, else from its file; nothing where there is neither.
 * @throws UserError when it is not 32 bytes, or when others may read its file
 */
export async function readSealingKey(env: Environment, keyFile: string): Promise<Buffer | undefined> {
  const given = readVariable(env, "STARPOST_KEY");
  if (given) {
    const key = decodeKey(given);
    if (key) return key;
    throw new UserError(
      "usage",
      `STARPOST_KEY is not a key of ${keyBytes} bytes in hexadecimal or base64`,
      "Make one with `openssl rand -hex 32`.",
    );
  }
  const text = await readFileIfThere(keyFile);
  if (text === undefined) return undefined;
  await refuseSharedFile(keyFile);
  const key = decodeKey(text.trim());
  if (key) return key;
  throw new UserError(
    "failed",
    `${keyFile} does not hold a key of ${keyBytes} bytes`,
    "Put the file back from a backup, or set STARPOST_KEY.",
  );
}

/** Makes the key file; where another process was first, its key is the one given back. */
export async function createSealingKey(keyFile: string, random: (bytes: number) => Buffer): Promise<Buffer> {
  const draft = await writePrivateDraft(keyFile, `${random(keyBytes).toString("hex")}\n`);
  try {
    await publishOnce(draft, keyFile);
  } finally {
    await rm(draft, { force: true });
  }
  const key = await readSealingKey({}, keyFile);
  if (!key)
    throw new UserError("failed", `${keyFile} was removed while it was being made`, "Run the command again.");
  return key;
}

/** Gives a finished file its name, and only if nothing bears it: no reader ever sees half a key. */
async function publishOnce(draft: string, path: string): Promise<void> {
  try {
    await link(draft, path).catch(async (error: unknown) => {
      if (codeOf(error) === "EEXIST") return;
      // Some file systems know no second name for a file.
      await copyFile(draft, path, constants.COPYFILE_EXCL);
    });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw toFileError(error, path);
  }
}

async function refuseSharedFile(path: string): Promise<void> {
  if (platform() === "win32") return;
  const mode = (await stat(path)).mode & 0o777;
  if ((mode & 0o077) === 0) return;
  throw new UserError(
    "failed",
    `${path} may be read by others (mode ${mode.toString(8).padStart(4, "0")})`,
    `Run \`chmod 600 ${path}\`.`,
  );
}

function decodeKey(text: string): Buffer | undefined {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, "hex");
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return undefined;
  const key = Buffer.from(text, "base64");
  return key.length === keyBytes ? key : undefined;
}
