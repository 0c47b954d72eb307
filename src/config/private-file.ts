import { randomBytes } from "node:crypto";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { toFileError, codeOf } from "./user-error.ts";

const onlyOwner = { folder: 0o700, file: 0o600 } as const;

/** Makes a folder, and those above it, that only their owner may enter. */
export async function makePrivateFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: onlyOwner.folder });
  } catch (error) {
    throw toFileError(error, path, "Set STARPOST_HOME to a folder that can be written.");
  }
}

/** Writes a whole file beside the one it is for, readable by its owner alone, and gives the name it stands under. */
export async function writePrivateDraft(path: string, text: string): Promise<string> {
  await makePrivateFolder(dirname(path));
  const draft = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    const file = await open(draft, "wx", onlyOwner.file);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    await rm(draft, { force: true });
    throw toFileError(error, path);
  }
  return draft;
}

/** Replaces a file in one step: whoever reads it sees the old text or the new, never a part. */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  const draft = await writePrivateDraft(path, text);
  try {
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw toFileError(error, path);
  }
}

/** The text of a file, or nothing where there is no such file. */
export async function readFileIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw toFileError(error, path);
  }
}
