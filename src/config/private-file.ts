import { mkdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { codeOf, toFileError } from "./user-error.ts";

/** Access for the owner only. */
const modes = { folder: 0o700, file: 0o600 } as const;

/**
 * Replaces a file atomically. Creates its folder if needed. Only the owner can read the file and the folder.
 * @throws UserError `failed`
 */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  const folder = dirname(path);
  try {
    await mkdir(folder, { recursive: true, mode: modes.folder });
  } catch (error) {
    throw toFileError(error, folder, "Set STARPOST_HOME to a writable folder.");
  }
  try {
    // Loaded on demand: most commands only read.
    const { default: writeFileAtomic } = await import("write-file-atomic");
    await writeFileAtomic(path, text, { mode: modes.file });
  } catch (error) {
    throw toFileError(error, path);
  }
}

/** Like `writePrivateFile`, for settings in JSON format. */
export function writePrivateJson(path: string, value: object): Promise<void> {
  return writePrivateFile(path, `${JSON.stringify(value, undefined, 2)}\n`);
}

/**
 * Reads a text file, or returns undefined if it does not exist.
 * @throws UserError `failed`
 */
export async function readFileIfExists(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw toFileError(error, path);
  }
}
