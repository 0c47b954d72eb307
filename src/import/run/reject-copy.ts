import { accessSync, constants, createReadStream, createWriteStream, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { ImportError, usageError } from "../import-error.ts";

/**
 * Checks, before anything is sent, that the file named by `--rejects` or another flag can be written.
 * @throws ImportError `usage`
 */
export function checkRejectsPath(
  rejects: string | undefined,
  inputs: readonly string[],
  cwd: string,
  flag = "--rejects",
): void {
  if (rejects === undefined) return;
  const path = resolve(cwd, rejects);
  const refuse = (why: string) => {
    throw usageError(`invalid value "${rejects}" for ${flag}: ${why}`, "specify a file that can be written");
  };
  if (inputs.some((input) => input !== "-" && resolve(cwd, input) === path))
    refuse("this is one of the input files");
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory()) refuse("this is a folder");
  if (!found && !statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory()) {
    refuse("its folder does not exist");
  }
  try {
    accessSync(found ? path : dirname(path), constants.W_OK);
  } catch {
    refuse("permission denied");
  }
}

/**
 * Copies the rejects to the requested file. They stay in the run's folder as well.
 * @throws ImportError `failed` if that fails; the hint says where the rejects are
 */
export async function copyRejects(
  kept: string,
  rejects: string,
  cwd: string,
  flag = "--rejects",
): Promise<string> {
  const path = resolve(cwd, rejects);
  try {
    await pipeline(createReadStream(kept), createWriteStream(path, { mode: 0o600 }));
    return path;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === "ENOSPC" ? "the disk is full" : `cannot write the file (${code})`;
    throw new ImportError("failed", `${flag} ${rejects}: ${why}`, {
      hint: `the rows are in ${kept}`,
      cause: error,
    });
  }
}
