import { makePrivateFolder } from "./private-file.ts";
import { toFileError } from "./user-error.ts";
import { basename, dirname } from "node:path";

/**
 * Writes a file of settings, readable by its owner alone. Whoever reads it sees the old text or the new, never a part.
 * Loaded only to write: what reads at each start does without the package.
 * @param path ends in `.json`
 * @throws UserError `failed`
 */
export async function writeSettings(path: string, settings: object): Promise<void> {
  const { default: Conf } = await import("conf");
  await makePrivateFolder(dirname(path));
  try {
    const store = new Conf<Record<string, unknown>>({
      cwd: dirname(path),
      configName: basename(path, ".json"),
      configFileMode: 0o600,
      accessPropertiesByDotNotation: false,
      clearInvalidConfig: false,
      serialize: (value) => `${JSON.stringify(value, undefined, 2)}\n`,
    });
    store.store = { ...settings };
  } catch (error) {
    throw toFileError(error, path);
  }
}
