import { basename, dirname } from "node:path";
import { createPrivateFolder, privateFileMode } from "./private-file.ts";
import { toFileError } from "./user-error.ts";

/**
 * Replaces a settings file atomically. Only the owner can read it.
 * @param path ends in `.json`
 * @throws UserError `failed`
 */
export async function writeSettings(path: string, settings: object): Promise<void> {
  await createPrivateFolder(dirname(path));
  // Loaded on demand: most commands only read settings.
  const { default: Conf } = await import("conf");
  try {
    const file = new Conf<Record<string, unknown>>({
      cwd: dirname(path),
      configName: basename(path, ".json"),
      configFileMode: privateFileMode,
      // The content is replaced, so it need not be valid.
      clearInvalidConfig: true,
      serialize: (value) => `${JSON.stringify(value, undefined, 2)}\n`,
    });
    file.store = { ...settings };
  } catch (error) {
    throw toFileError(error, path);
  }
}
