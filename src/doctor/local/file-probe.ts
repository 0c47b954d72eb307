import { fork } from "node:child_process";
import type { DatabaseProbeTold } from "../../app/database-probe.ts";
import type { DatabaseLook } from "../../storage/sqlite/inspect-database.ts";

/** What was learnt of a SQLite file in the time allowed. */
export interface FileProbe {
  /** Nothing where it did not answer in time. */
  readonly look?: DatabaseLook;
  /** What is wrong with it, as far as it was read; nothing where it was not read to its end in time. */
  readonly damage?: readonly string[];
}

/**
 * Looks at a SQLite file in a process of its own: reading a large file, or one of a network that has gone, cannot be
 * broken off otherwise.
 */
export function probeFile(
  path: string,
  { program, timeoutMs }: { readonly program: URL; readonly timeoutMs: number },
): Promise<FileProbe> {
  const child = fork(program, [path], { stdio: ["ignore", "ignore", "ignore", "ipc"], execArgv: [] });
  let found: FileProbe = {};
  child.on("message", (told) => {
    found = { ...found, ...(told as DatabaseProbeTold) };
  });
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      resolve(found);
    };
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      child.unref();
      end();
    }, timeoutMs);
    child.once("error", end).once("exit", end);
  });
}
