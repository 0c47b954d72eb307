import { mkdirSync, readFileSync, statSync } from "node:fs";
import { platform } from "node:os";
import { dirname, basename } from "node:path";
import { codeOf, failedError, toFileError, UserError } from "./user-error.ts";

/** Access for the owner only. */
export const privateFileMode = 0o600;
const privateFolderMode = 0o700;

/**
 * Replaces a file atomically. Creates its folder if needed. Only the owner can read the file and the folder.
 * @param hint what to do if the file cannot be written, unless it is a file of starpost
 * @throws UserError `failed`
 */
export async function writePrivateFile(path: string, content: string | Buffer, hint?: string): Promise<void> {
  await createPrivateFolder(dirname(path), hint);
  try {
    // Loaded on demand: most commands only read.
    const { default: writeFileAtomic } = await import("write-file-atomic");
    await writeFileAtomic(path, content, { mode: privateFileMode });
  } catch (error) {
    throw toFileError(error, path, hint ?? ownFolderHint);
  }
}

/** What to do about settings that cannot be read or written. */
export const ownFolderHint =
  "Check the owner and the permissions, or set STARPOST_HOME to a writable folder of your own.";

/**
 * Creates a folder that only its owner can access, unless it exists.
 * @throws UserError `failed`
 */
export async function createPrivateFolder(path: string, hint?: string): Promise<void> {
  try {
    mkdirSync(path, { recursive: true, mode: privateFolderMode });
  } catch (error) {
    throw toFileError(error, path, hint ?? "Set STARPOST_HOME to a writable folder.");
  }
}

/**
 * Reads a small text file, or returns undefined if it does not exist. Reads synchronously, because loading
 * `node:fs/promises` slows startup.
 * @throws UserError `failed`
 */
export async function readFileIfExists(path: string): Promise<string | undefined> {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw toFileError(error, path, ownFolderHint);
  }
}

/**
 * Refuses a file with a secret that other users can read.
 * @throws UserError `failed`
 */
export function refuseExposedFile(path: string): void {
  if (platform() === "win32") return;
  const mode = statSync(path).mode & 0o777;
  if ((mode & 0o077) === 0) return;
  throw failedError(
    `other users can read ${path} (mode ${mode.toString(8).padStart(4, "0")})`,
    `Run \`chmod 600 ${path}\`.`,
  );
}

/**
 * Reads a settings file, or returns undefined if it does not exist. Does not load conf, because most commands read
 * settings at startup.
 * @param hint what to do if the content is not valid
 * @throws UserError `failed`; the reason is the message if `parse` throws a UserError
 */
export async function readSettings<T>(path: string, parse: (text: string) => T, hint: string): Promise<T | undefined> {
  const text = await readFileIfExists(path);
  if (text === undefined) return undefined;
  try {
    return parse(text);
  } catch (error) {
    // The message of a JSON parser repeats the text, which may contain a secret.
    const reason = error instanceof UserError ? error.message : "invalid content";
    throw failedError(`cannot read ${path}: ${reason}`, hint, error);
  }
}

/**
 * Replaces a settings file atomically. Only the owner can read it.
 * @throws UserError `failed`
 */
export async function writeSettings(path: string, settings: object): Promise<void> {
  await createPrivateFolder(dirname(path));
  const { default: Conf } = await import("conf");
  try {
    const file = new Conf({
      cwd: dirname(path),
      configName: basename(path, ".json"),
      configFileMode: privateFileMode,
      // A damaged file is replaced.
      clearInvalidConfig: true,
      serialize: (value) => `${JSON.stringify(value, undefined, 2)}\n`,
    });
    file.store = { ...settings };
  } catch (error) {
    throw toFileError(error, path, ownFolderHint);
  }
}
