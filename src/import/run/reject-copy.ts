import { accessSync, constants, createReadStream, createWriteStream, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { ImportError } from "../import-error.ts";

/**
 * Makes sure, before anything is sent, that `--rejects`, or what another flag names, can be written.
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
    throw new ImportError("usage", `${flag} ${rejects}: ${why}`, {
      hint: "name a file that can be written",
    });
  };
  if (inputs.some((input) => input !== "-" && resolve(cwd, input) === path))
    refuse("is a file to be imported");
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory()) refuse("is a folder");
  if (!found && !statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory()) {
    refuse("its folder is not there");
  }
  try {
    accessSync(found ? path : dirname(path), constants.W_OK);
  } catch {
    refuse("cannot be written (permission denied)");
  }
}

/**
 * Puts the rejects where the person wants them. They stay in the run's folder as well.
 * @throws ImportError `failed` when that cannot be done; says where they are
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
    const why = code === "ENOSPC" ? "the disk is full" : `it cannot be written (${code})`;
    throw new ImportError("failed", `${flag} ${rejects}: ${why}`, {
      hint: `the rows are kept in ${kept}`,
      cause: error,
    });
  }
}
