import { execa } from "execa";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A PostgreSQL server of a test, which may restart it. */
export interface OwnPostgres {
  readonly url: string;
  /** Everything that it has logged. */
  readonly readLog: () => string;
  readonly restart: (mode: "fast" | "immediate") => Promise<unknown>;
  readonly stop: () => Promise<unknown>;
}

/** Whether this machine has the programs of a PostgreSQL server. */
export const canStartPostgres =
  existsSync("/usr/lib/postgresql") &&
  readdirSync("/usr/lib/postgresql").some((version) => existsSync(`/usr/lib/postgresql/${version}/bin/initdb`));

/** Starts a server that writes every commit to disk. */
export async function startOwnPostgres(): Promise<OwnPostgres> {
  const run = async (...args: string[]) => (await execa("bash", [".ci/postgres", ...args])).stdout;
  const [folder = "", url = ""] = (await run("start", "--durable")).split(" ");
  return {
    url,
    readLog: () => readFileSync(join(folder, "data", "server.log"), "utf8"),
    restart: (mode) => run("restart", folder, mode),
    stop: () => run("stop", folder),
  };
}
