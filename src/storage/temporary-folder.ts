import { existsSync, lstatSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { platform, tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { FileLock } from "./file-lock.ts";

/** What the temporary folders of this program are for, which their names state. */
const purposes = ["dry-run", "plan", "rehearsal", "export", "map", "sync", "demo"] as const;
type Purpose = (typeof purposes)[number];

const names = new RegExp(`^starpost-(?:${purposes.join("|")})-[A-Za-z0-9]{6}$`);
const lockName = "lock";
/** How often another folder is created, if other processes remove it before it is locked. */
const maxAttempts = 5;

/** A folder in the system's temporary folder. Its lock shows others that the process that uses it is running. */
export class TemporaryFolder implements Disposable {
  readonly path: string;
  readonly #lock: FileLock;

  /** Creates the folder (mode 0700), and removes those that killed processes of this user have left behind. */
  constructor(purpose: Purpose) {
    for (const path of listTemporaryFolders(tmpdir())) removeAbandoned(path);
    for (let attempt = 1; ; attempt++) {
      const path = mkdtempSync(join(tmpdir(), `starpost-${purpose}-`));
      const lock = lockNew(path, attempt < maxAttempts);
      // Another process may consider it abandoned before it is locked. That process holds the lock while it removes it.
      if (lock && existsSync(join(path, lockName))) {
        this.path = path;
        this.#lock = lock;
        return;
      }
      lock?.close();
    }
  }

  /** Removes the folder while it is locked, so that no other process does so at the same time. */
  [Symbol.dispose](): void {
    const isWindows = platform() === "win32";
    // Windows removes no open file.
    if (isWindows) this.#lock.close();
    rmSync(this.path, { recursive: true, force: true, maxRetries: 5 });
    if (!isWindows) this.#lock.close();
  }
}

/** @returns undefined if another process removes the folder */
function lockNew(path: string, mayFail: boolean): FileLock | undefined {
  try {
    return FileLock.acquire(join(path, lockName));
  } catch (error) {
    if (mayFail) return undefined;
    throw error;
  }
}

/** The temporary folders of this program, of this user only: the system's temporary folder is shared. */
export function listTemporaryFolders(parent: string): string[] {
  const uid = findUserId();
  return readNames(parent)
    .filter((name) => names.test(name))
    .map((name) => join(parent, name))
    .filter((path) => {
      const found = lstatSync(path, { throwIfNoEntry: false });
      // Without user IDs, every user has a temporary folder.
      return found?.isDirectory() === true && (uid === -1 || found.uid === uid);
    });
}

function readNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Removes a folder whose lock nobody holds. One without a lock may be about to get one. */
function removeAbandoned(path: string): void {
  const lockPath = join(path, lockName);
  if (!existsSync(lockPath)) return;
  try {
    using lock = FileLock.acquire(lockPath);
    if (lock) rmSync(path, { recursive: true, force: true });
  } catch {
    // Leftovers must not prevent a command.
  }
}

/** The user of a container may not be in the list of users. */
function findUserId(): number | undefined {
  try {
    return userInfo().uid;
  } catch {
    return lstatSync("/proc/self", { throwIfNoEntry: false })?.uid;
  }
}
