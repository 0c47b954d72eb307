import { accessSync, constants, createReadStream, createWriteStream, existsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import type { ImportContext } from "../context.ts";
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
  if (inputs.some((input) => input !== "-" && resolve(cwd, input) === path)) refuse("this is one of the input files");
  const folder = dirname(path);
  if (!existsSync(folder) || !statSync(folder).isDirectory()) refuse("its folder does not exist");
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory()) refuse("this is a folder");
  try {
    accessSync(found ? path : folder, constants.W_OK);
  } catch {
    refuse("permission denied");
  }
}

/**
 * Copies rejected or missing rows to the requested file, if there is one; reports those in separate tables. The rows stay
 * in the run's folder as well.
 * @returns where the rows are; null without any
 * @throws ImportError `failed` if copying fails; the hint says where the rows are
 */
export async function placeRows(
  [first, ...others]: readonly string[],
  requested: string | undefined,
  { cwd, report }: Pick<ImportContext, "cwd" | "report">,
  flag = "--rejects",
): Promise<string | null> {
  for (const path of others) {
    report({ type: "notice", message: `rows from files with a different format are in ${path}` });
  }
  if (first === undefined) return null;
  return requested === undefined ? first : copyRows(first, requested, cwd, flag);
}

async function copyRows(kept: string, rejects: string, cwd: string, flag: string): Promise<string> {
  const path = resolve(cwd, rejects);
  try {
    await pipeline(createReadStream(kept), createWriteStream(path, { mode: 0o600 }));
    return path;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === "ENOSPC" ? "the disk is full" : `cannot write the file (${code})`;
    throw new ImportError("failed", `${flag} ${rejects}: ${why}`, { hint: `the rows are in ${kept}`, cause: error });
  }
}
