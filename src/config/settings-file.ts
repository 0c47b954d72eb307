import { writePrivateFile } from "./private-file.ts";

/**
 * Replaces a settings file atomically. Only the owner can read it.
 * @throws UserError `failed`
 */
export function writeSettings(path: string, settings: object): Promise<void> {
  return writePrivateFile(path, `${JSON.stringify(settings, undefined, 2)}\n`);
}
