import { basename, dirname } from "node:path";
import { createPrivateFolder, ownFolderHint, privateFileMode, readFileIfExists } from "./private-file.ts";
import { toFileError, UserError } from "./user-error.ts";

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
    throw new UserError("failed", `cannot read ${path}: ${reason}`, hint, error);
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
