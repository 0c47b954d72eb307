import { constants } from "node:fs";
import { access, lstat, readdir, stat, statfs } from "node:fs/promises";
import { platform, userInfo } from "node:os";
import { basename, dirname, join } from "node:path";
import type { Paths } from "../config/paths.ts";
import { codeOf } from "../config/user-error.ts";
import { formatBytes } from "../terminal/plural.ts";
import { type Check, ok, problem, warning } from "./check.ts";

/** Files of the config folder in which a secret stands. */
const secretNames: ReadonlySet<string> = new Set([
  "credentials.json",
  "starpost.key",
  "redaction.key",
  "mail.json",
]);

/** What a process that was killed leaves of a file that it was writing. */
const draftEnding = /\.[0-9a-f]{12}$/;

const room = { littleBytes: 500_000_000, noneBytes: 20_000_000 } as const;

/** Whether a folder is there, is its owner's alone and can be written. */
export async function checkFolder(name: string, path: string): Promise<Check> {
  const found = await stat(path).catch((error: unknown) => error as NodeJS.ErrnoException);
  if (found instanceof Error) {
    if (codeOf(found) !== "ENOENT")
      return problem(name, `${path}: ${found.message}`, "Let yourself into the folders above it.");
    return checkUnmade(name, path);
  }
  if (!found.isDirectory())
    return problem(name, `${path} is not a folder`, "Move it away, or set STARPOST_HOME to a folder.");
  const mine = userInfo().uid;
  if (platform() !== "win32" && found.uid !== mine && mine !== 0) {
    return problem(name, `${path} belongs to another user (${found.uid})`, `sudo chown -R ${mine} '${path}'`);
  }
  const denied = await refusalOf(path, constants.R_OK | constants.W_OK | constants.X_OK);
  if (denied !== undefined)
    return problem(name, `${path} cannot be read and written: ${denied}`, `chmod 700 '${path}'`);
  if (isOpen(found.mode)) {
    return warning(name, `others may look into ${path} (mode ${modeOf(found.mode)})`, `chmod 700 '${path}'`);
  }
  return ok(name, `${path} (mode ${modeOf(found.mode)})`);
}

/** What would be made by the first use. */
async function checkUnmade(name: string, path: string): Promise<Check> {
  const parent = await findParent(path);
  const denied = await refusalOf(parent, constants.W_OK | constants.X_OK);
  if (denied === undefined) return ok(name, `${path} is not there yet: the first use makes it`);
  return problem(
    name,
    `${path} is not there, and cannot be made: ${parent}: ${denied}`,
    "Let yourself write there, or set STARPOST_HOME to a folder that can be written.",
  );
}

/** The nearest folder above that is there. */
async function findParent(path: string): Promise<string> {
  const parent = dirname(path);
  if (parent === path) return parent;
  const isThere = await stat(parent).then(
    () => true,
    (error: unknown) => codeOf(error) !== "ENOENT",
  );
  return isThere ? parent : findParent(parent);
}

async function refusalOf(path: string, mode: number): Promise<string | undefined> {
  const words: Readonly<Record<string, string>> = {
    EACCES: "permission denied",
    EROFS: "the file system is read-only",
    ENOTDIR: "it is not a folder",
  };
  return access(path, mode).then(
    () => undefined,
    (error: unknown) => words[codeOf(error) ?? ""] ?? (error as Error).message,
  );
}

/** Whether secrets are their owner's alone. */
export async function checkSecretFiles({ configFolder, tokensFolder }: Paths): Promise<Check> {
  const name = "secret-files";
  const inConfig = (await listNames(configFolder)).filter((file) =>
    secretNames.has(file.replace(draftEnding, "")),
  );
  const files = [
    ...inConfig.map((file) => join(configFolder, file)),
    ...(await listNames(tokensFolder)).map((file) => join(tokensFolder, file)),
  ];
  const open: string[] = [];
  const closed: string[] = [];
  for (const file of files) {
    const found = await lstat(file).catch(() => undefined);
    if (!found?.isFile()) continue;
    if (isOpen(found.mode)) open.push(file);
    else if ((await refusalOf(file, constants.R_OK)) !== undefined) closed.push(file);
  }
  if (open.length > 0) {
    const message = `others may read ${open.map((file) => basename(file)).join(", ")}`;
    return problem(name, message, `chmod 600 ${open.map((file) => `'${file}'`).join(" ")}`);
  }
  if (closed.length > 0) {
    return problem(
      name,
      `${closed.join(", ")} cannot be read by you`,
      `sudo chown ${userInfo().uid} ${closed.map((file) => `'${file}'`).join(" ")}`,
    );
  }
  return ok(
    name,
    files.length === 0
      ? "there are none yet"
      : `${files.length === 1 ? "1 file" : `${files.length} files`}, nobody else may read them`,
  );
}

/** What is left of the disk where data is kept. */
export async function checkDisk(folder: string): Promise<Check> {
  const name = "disk";
  const at = (await stat(folder).then(
    () => true,
    () => false,
  ))
    ? folder
    : await findParent(folder);
  const { bavail, bsize } = await statfs(at);
  const free = bavail * bsize;
  const message = `${formatBytes(free)} free for ${folder}`;
  if (free >= room.littleBytes) return ok(name, message);
  const fix = "Make room; `starpost imports purge` removes old runs.";
  return free < room.noneBytes ? problem(name, message, fix) : warning(name, message, fix);
}

/** Names of drafts that killed processes left in the config folder. */
export async function findDrafts({ configFolder, tokensFolder }: Paths): Promise<string[]> {
  const found = await Promise.all(
    [configFolder, tokensFolder].map(async (folder) =>
      (await listNames(folder)).filter((file) => draftEnding.test(file)).map((file) => join(folder, file)),
    ),
  );
  return found.flat();
}

async function listNames(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

function isOpen(mode: number): boolean {
  return platform() !== "win32" && (mode & 0o077) !== 0;
}

function modeOf(mode: number): string {
  return (mode & 0o777).toString(8).padStart(4, "0");
}
