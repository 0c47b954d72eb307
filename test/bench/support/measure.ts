import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";

/** One run of a command in its own process. */
export interface Measured {
  readonly seconds: number;
  /** The peak memory of the process in MB. */
  readonly peakMb: number;
  readonly stdout: string;
}

/** Runs and measures a command. @throws Error if its status is not one of `statuses` */
export async function measure(
  command: string,
  args: readonly string[],
  options: {
    readonly env?: Record<string, string>;
    readonly input?: string;
    readonly statuses?: readonly number[];
  } = {},
): Promise<Measured> {
  const startedMs = performance.now();
  const child = spawn(command, args, { env: { PATH: process.env["PATH"], ...options.env }, stdio: "pipe" });
  let [stdout, stderr, peakKb] = ["", "", 0];
  child.stdout.on("data", (data: Buffer) => (stdout += data.toString()));
  child.stderr.on("data", (data: Buffer) => (stderr += data.toString()));
  child.stdin.end(options.input ?? "");
  const watch = setInterval(() => {
    peakKb = Math.max(peakKb, readPeakKb(child.pid));
  }, 20);
  const status = await new Promise<number | null>((ended) => child.on("close", ended));
  clearInterval(watch);
  if (!(options.statuses ?? [0]).includes(status ?? -1)) {
    throw new Error(`${command} ${args.join(" ")} ended with ${status}: ${stderr.slice(-2_000)}`);
  }
  return { seconds: (performance.now() - startedMs) / 1_000, peakMb: peakKb / 1_024, stdout };
}

/** The kernel's high-water mark, which never decreases. */
export function readPeakKb(pid: number | undefined): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}
