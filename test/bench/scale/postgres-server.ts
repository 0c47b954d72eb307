import { execFileSync } from "node:child_process";
import { Client } from "pg";

/** A PostgreSQL server for a benchmark. */
export interface PostgresServer {
  readonly url: string;
  /** Its main process. */
  readonly pid: number;
  stop(): void;
}

/** Starts a server that writes every commit to disk, or uses the given one, which must run on this machine. */
export async function openPostgres(given: string | undefined): Promise<PostgresServer> {
  if (given !== undefined) return { url: given, pid: await readPid(given), stop: () => {} };
  const started = execFileSync("bash", [".ci/postgres", "start", "--durable"], { encoding: "utf8" });
  const [folder = "", url = ""] = started.trim().split(" ");
  const stop = () => void execFileSync("bash", [".ci/postgres", "stop", folder]);
  return { url, pid: await readPid(url), stop };
}

async function readPid(url: string): Promise<number> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ file: string }>("select pg_read_file('postmaster.pid') as file");
    return Number.parseInt(rows[0]?.file ?? "", 10);
  });
}

export async function withClient<T>(url: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client(url);
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

let databases = 0;

/** Creates a database, and drops it afterward. */
export async function withDatabase<T>(server: string, use: (url: string) => Promise<T>): Promise<T> {
  const name = `starpost_bench_${process.pid}_${++databases}`;
  return withClient(server, async (client) => {
    try {
      await client.query(`create database ${name} template template0 encoding 'UTF8'`);
      return await use(Object.assign(new URL(server), { pathname: `/${name}` }).href);
    } finally {
      await client.query(`drop database if exists ${name} with (force)`);
    }
  });
}
