import { constants, statSync } from "node:fs";
import { access, lstat, readdir, stat, statfs } from "node:fs/promises";
import { platform, userInfo } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";
import { readRecords } from "../backup/records.ts";
import type { Paths } from "../config/paths.ts";
import { codeOf } from "../config/user-error.ts";
import { countOf, formatBytes } from "../terminal/plural.ts";
import { type Check, ok, problem, warning } from "./check.ts";

const secretFileNames: ReadonlySet<string> = new Set([
  "credentials.json",
  "starpost.key",
  "redaction.key",
  "mail.json",
  "dkim.json",
]);

/** The suffix of a file that was not renamed yet; the second form is that of earlier versions. A killed process leaves such files behind. */
const partialSuffix = /\.(?:\d{1,10}|tmp-\d{10}[0-9a-f]{6})$/;

/** The suffix of the temporary files of `backup create`, `verify`, and `restore`. */
const backupSuffix = /\.(?:scheduled-)?[0-9a-f]{12}\.(?:content|draft|restored)(?:-(?:wal|shm|journal))?$/;

/** A backup changes its files at least this often, in milliseconds. */
const backupMs = 3_600_000;

/** Minimum free disk space, in bytes. */
const minFreeBytes = { warning: 500_000_000, problem: 20_000_000 } as const;

const reasons: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EROFS: "read-only file system",
  ENOTDIR: "not a folder",
};

/** Checks that a folder exists (or can be created), is writable, and is accessible only to its owner. */
export async function checkFolder(name: string, path: string): Promise<Check> {
  const found = await stat(path).catch((error: unknown) => error as NodeJS.ErrnoException);
  if (found instanceof Error) {
    if (codeOf(found) === "ENOENT") return checkMissingFolder(name, path);
    return problem(name, `cannot access ${path}: ${found.message}`, "Allow access to its parent folders.");
  }
  if (!found.isDirectory()) {
    return problem(name, `${path} is not a folder`, "Move the file, or set STARPOST_HOME to a folder.");
  }
  const uid = findUserId();
  if (uid !== undefined && platform() !== "win32" && found.uid !== uid && uid !== 0) {
    return problem(name, `${path} is owned by another user (${found.uid})`, `sudo chown -R ${uid} '${path}'`);
  }
  const refusal = await findAccessError(path, constants.R_OK | constants.W_OK | constants.X_OK);
  if (refusal !== undefined) {
    const fix =
      refusal === reasons["EROFS"]
        ? "Set STARPOST_HOME to a writable folder, such as a volume."
        : `chmod 700 '${path}'`;
    return problem(name, `cannot read and write ${path}: ${refusal}`, fix);
  }
  if (isAccessibleToOthers(found.mode)) {
    return warning(name, `other users can access ${path} (mode ${formatMode(found.mode)})`, `chmod 700 '${path}'`);
  }
  return ok(name, `${path} (mode ${formatMode(found.mode)})`);
}

async function checkMissingFolder(name: string, path: string): Promise<Check> {
  const parent = await findExistingParent(path);
  const refusal = await findAccessError(parent, constants.W_OK | constants.X_OK);
  if (refusal === undefined) return ok(name, `${path} does not exist yet; it is created on first use`);
  return problem(
    name,
    `cannot create ${path}: ${parent}: ${refusal}`,
    "Allow writing to that folder, or set STARPOST_HOME to a writable folder.",
  );
}

async function findExistingParent(path: string): Promise<string> {
  const parent = dirname(path);
  if (parent === path) return parent;
  const exists = await stat(parent).then(
    () => true,
    (error: unknown) => codeOf(error) !== "ENOENT",
  );
  return exists ? parent : findExistingParent(parent);
}

/** Describes why a path cannot be accessed, or returns undefined if it can. */
export async function findAccessError(path: string, mode: number): Promise<string | undefined> {
  return access(path, mode).then(
    () => undefined,
    (error: unknown) => reasons[codeOf(error) ?? ""] ?? (error as Error).message,
  );
}

/** Checks that only the owner can read files that contain secrets. */
export async function checkSecretFiles({ configFolder, tokensFolder }: Paths): Promise<Check> {
  const inConfig = (await listNames(configFolder)).filter((file) =>
    secretFileNames.has(file.replace(partialSuffix, "")),
  );
  const files = [
    ...inConfig.map((file) => join(configFolder, file)),
    ...(await listNames(tokensFolder)).map((file) => join(tokensFolder, file)),
  ];
  const exposed: string[] = [];
  const unreadable: string[] = [];
  for (const file of files) {
    const found = await lstat(file).catch(() => undefined);
    if (!found?.isFile()) continue;
    if (isAccessibleToOthers(found.mode)) exposed.push(file);
    else if ((await findAccessError(file, constants.R_OK)) !== undefined) unreadable.push(file);
  }
  if (exposed.length > 0) {
    const message = `other users can read ${exposed.map((file) => basename(file)).join(", ")}`;
    return problem("secret-files", message, `chmod 600 ${quoteAll(exposed)}`);
  }
  if (unreadable.length > 0) {
    return problem(
      "secret-files",
      `cannot read ${unreadable.join(", ")}`,
      `sudo chown ${findUserId() ?? "$(id -u)"} ${quoteAll(unreadable)}`,
    );
  }
  return ok("secret-files", files.length === 0 ? "none yet" : `${countOf(files.length, "file")}, readable only by you`);
}

export async function checkDisk(folder: string): Promise<Check> {
  const exists = await stat(folder).then(
    () => true,
    () => false,
  );
  const { bavail, bsize } = await statfs(exists ? folder : await findExistingParent(folder));
  const freeBytes = bavail * bsize;
  const message = `${formatBytes(freeBytes)} free for ${folder}`;
  if (freeBytes >= minFreeBytes.warning) return ok("disk", message);
  const fix = "Free up disk space; `starpost imports purge` deletes old import runs.";
  return freeBytes < minFreeBytes.problem ? problem("disk", message, fix) : warning("disk", message, fix);
}

/** Finds temporary files of killed processes. */
export async function findPartialFiles(paths: Paths, nowMs: number): Promise<string[]> {
  const { configFolder, tokensFolder, dataFolder } = paths;
  const { backups } = await readRecords(paths);
  const folders = [
    join(dataFolder, "backups"),
    ...backups.flatMap(({ file, database }) => [file, database].filter(isAbsolute).map(dirname)),
  ];
  const found = await Promise.all([
    ...[configFolder, tokensFolder].map((folder) => listFiles(folder, (name) => partialSuffix.test(name))),
    ...[...new Set([dataFolder, ...folders])].map(async (folder) => {
      const files = await listFiles(folder, (name) => backupSuffix.test(name));
      const times = await Promise.all(files.map((file) => stat(file).catch(() => undefined)));
      return files.filter((_, at) => nowMs - (times[at]?.mtimeMs ?? nowMs) > backupMs);
    }),
  ]);
  return found.flat();
}

async function listFiles(folder: string, matches: (name: string) => boolean): Promise<string[]> {
  return (await listNames(folder)).filter(matches).map((name) => join(folder, name));
}

export function isPartialFile(path: string): boolean {
  return partialSuffix.test(path) || backupSuffix.test(path);
}

async function listNames(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

export function isAccessibleToOthers(mode: number): boolean {
  return platform() !== "win32" && (mode & 0o077) !== 0;
}

export function formatMode(mode: number): string {
  return (mode & 0o777).toString(8).padStart(4, "0");
}

/** The user of a container may not be in the list of users. */
function findUserId(): number | undefined {
  try {
    return userInfo().uid;
  } catch {
    return statSync("/proc/self", { throwIfNoEntry: false })?.uid;
  }
}

export function quoteAll(paths: readonly string[]): string {
  return paths.map((path) => `'${path}'`).join(" ");
}
