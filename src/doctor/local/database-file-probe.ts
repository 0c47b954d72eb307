import { fork } from "node:child_process";
import type { DatabaseInspection } from "../../storage/inspect-database.ts";

/**
 * What the probe process sends: first a quick inspection, then the result of the integrity check, which can take long. Or, of a
 * file that is not trusted, only what could run code in it.
 */
export type DatabaseProbeMessage =
  | { readonly foreign: readonly string[] }
  | { readonly inspection: DatabaseInspection }
  | { readonly damage: readonly string[] };

/** What was learned about a SQLite file before the timeout. */
export interface DatabaseFileProbe {
  readonly inspection?: DatabaseInspection;
  /** Integrity errors; absent if the check did not finish. */
  readonly damage?: readonly string[];
  /** Objects that starpost does not create, in a file that is not trusted. */
  readonly foreign?: readonly string[];
}

/**
 * Inspects a SQLite file in a separate process, because reading a large file, or one on an unreachable network drive,
 * cannot be aborted otherwise.
 * @param program the file to run as the probe process
 * @param account the app key of the account to inspect (default: the first one)
 * @param isQuick whether to end the process before it reads all pages
 * @param isUntrusted whether somebody else may have written the file: nothing is read if it contains views or triggers of others
 */
export function probeDatabaseFile(
  path: string,
  {
    program,
    timeoutMs,
    account,
    isQuick = false,
    isUntrusted = false,
  }: {
    readonly program: URL;
    readonly timeoutMs: number;
    readonly account?: string | undefined;
    readonly isQuick?: boolean;
    readonly isUntrusted?: boolean;
  },
): Promise<DatabaseFileProbe> {
  const mode = isUntrusted ? "untrusted" : "trusted";
  const child = fork(program, account === undefined ? [path, mode] : [path, mode, account], {
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    execArgv: [],
  });
  let result: DatabaseFileProbe = {};
  child.on("message", (message) => {
    result = { ...result, ...(message as DatabaseProbeMessage) };
    if (isQuick) child.kill("SIGKILL");
  });
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      resolve(result);
    };
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      child.unref();
      end();
    }, timeoutMs);
    child.once("error", end).once("exit", end);
  });
}
