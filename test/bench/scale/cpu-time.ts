import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** The CPU time that processes have used, in seconds, including that of their children that have ended. */
export function readCpuSeconds(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + readTicks(pid), 0) / ticksPerSecond;
}

const ticksPerSecond = Number(execFileSync("getconf", ["CLK_TCK"]));

function readTicks(pid: number): number {
  try {
    // The name of the program may contain spaces; the fields after it do not.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0);
  } catch {
    return 0;
  }
}

/** A process and its children. */
export function withChildren(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return [pid, ...children.split(" ").filter(Boolean).map(Number)];
}
