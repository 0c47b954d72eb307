import { readFile, stat } from "node:fs/promises";

/** A process that has a file open. */
export interface LockHolder {
  readonly pid: number;
  /** The command line, truncated. */
  readonly name: string;
}

/** The processes that have a SQLite file open, and the one that is writing. */
export interface LockHolders {
  readonly open: readonly LockHolder[];
  readonly writer: LockHolder | undefined;
}

/** An entry of `/proc/locks`. */
interface SystemLock {
  readonly isWrite: boolean;
  readonly pid: number;
  readonly inode: string;
  readonly from: number;
  readonly to: number;
}

/** The byte of the `-shm` file that a writer locks. Source: sqlite.org/walformat.html "Locks" */
const writeByte = 120;

/** Maximum length of a process name, in characters. */
const maxNameLength = 60;

/**
 * Finds the processes that have a SQLite file open, from the lock list of Linux. Returns undefined on other systems.
 */
export async function findLockHolders(path: string): Promise<LockHolders | undefined> {
  const list = await readFile("/proc/locks", "utf8").catch(() => undefined);
  const inode = await inodeOf(path);
  if (list === undefined || inode === undefined) return undefined;
  const locks = list.split("\n").flatMap(parseLock);
  const fileLocks = locks.filter((lock) => lock.inode === inode);
  const logInode = await inodeOf(`${path}-shm`);
  const writing =
    locks.find((lock) => lock.inode === logInode && lock.isWrite && lock.from <= writeByte && lock.to >= writeByte) ??
    fileLocks.find(({ isWrite }) => isWrite);
  const pids = [...new Set(fileLocks.map(({ pid }) => pid))];
  return {
    open: await Promise.all(pids.map(describeHolder)),
    writer: writing && (await describeHolder(writing.pid)),
  };
}

async function inodeOf(path: string): Promise<string | undefined> {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  return found && String(found.ino);
}

/** `1: POSIX  ADVISORY  WRITE 4711 08:01:393217 120 120`. Source: proc(5) "/proc/locks" */
export function parseLock(line: string): SystemLock[] {
  const [, , , mode, pid, file = "", from, to] = line.split(/\s+/);
  // Processes in other containers have the ID 0 here.
  if (!(Number(pid) > 0) || from === undefined) return [];
  const end = to === "EOF" ? Number.POSITIVE_INFINITY : Number(to);
  const inode = file.slice(file.lastIndexOf(":") + 1);
  return [{ isWrite: mode === "WRITE", pid: Number(pid), inode, from: Number(from), to: end }];
}

async function describeHolder(pid: number): Promise<LockHolder> {
  const commandLine = (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).split("\0");
  const script = commandLine.findIndex((argument, index) => index > 0 && /starpost(?:\.js)?$/.test(argument));
  const shown = script === -1 ? commandLine : ["starpost", ...commandLine.slice(script + 1)];
  const name = shown.join(" ").trim().slice(0, maxNameLength);
  return { pid, name: name === "" ? "a program" : name };
}
