import { readFile, stat } from "node:fs/promises";

/** A process, as a person can find it. */
export interface LockHolder {
  readonly pid: number;
  /** How it was started, cut short. */
  readonly name: string;
}

/** Who has a SQLite file open, and who of them is writing. */
export interface LockHolders {
  readonly open: readonly LockHolder[];
  readonly writer: LockHolder | undefined;
}

/** A lock of the system's list. */
interface SystemLock {
  readonly isWrite: boolean;
  readonly pid: number;
  readonly inode: string;
  readonly from: number;
  readonly to: number;
}

/** The byte of the file `-shm` that who writes has locked. Source: sqlite.org/walformat.html "Locks" */
const writeByte = 120;

/** Longest name of a process that is shown, characters. */
const longestName = 60;

/**
 * Finds who has a SQLite file open: by the list of locks that Linux keeps. Other systems keep none, and nothing is known.
 */
export async function findLockHolders(path: string): Promise<LockHolders | undefined> {
  const list = await readFile("/proc/locks", "utf8").catch(() => undefined);
  const inode = await inodeOf(path);
  if (list === undefined || inode === undefined) return undefined;
  const locks = list.split("\n").flatMap(readLock);
  const ofFile = locks.filter((lock) => lock.inode === inode);
  const logInode = await inodeOf(`${path}-shm`);
  const writing =
    locks.find(
      (lock) => lock.inode === logInode && lock.isWrite && lock.from <= writeByte && lock.to >= writeByte,
    ) ?? ofFile.find(({ isWrite }) => isWrite);
  const pids = [...new Set(ofFile.map(({ pid }) => pid))];
  return {
    open: await Promise.all(pids.map(nameHolder)),
    writer: writing && (await nameHolder(writing.pid)),
  };
}

async function inodeOf(path: string): Promise<string | undefined> {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  return found && String(found.ino);
}

/** `1: POSIX  ADVISORY  WRITE 4711 08:01:393217 120 120`. Source: proc(5) "/proc/locks" */
function readLock(line: string): SystemLock[] {
  const [, , , mode, pid, file = "", from, to] = line.trim().split(/\s+/);
  // A process of another container has the number 0 here.
  if (!(Number(pid) > 0) || from === undefined) return [];
  const end = to === "EOF" ? Number.POSITIVE_INFINITY : Number(to);
  const inode = file.slice(file.lastIndexOf(":") + 1);
  return [{ isWrite: mode === "WRITE", pid: Number(pid), inode, from: Number(from), to: end }];
}

async function nameHolder(pid: number): Promise<LockHolder> {
  const words = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  const [, ...line] = words.split("\0");
  const script = line.findIndex((word) => /starpost(?:\.js)?$/.test(word));
  const started = script === -1 ? words.split("\0") : ["starpost", ...line.slice(script + 1)];
  const name = started.join(" ").trim().slice(0, longestName);
  return { pid, name: name === "" ? "a program" : name };
}
