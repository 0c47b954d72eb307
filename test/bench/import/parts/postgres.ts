import { Client } from "pg";
import { startDelayProxy } from "../../support/delay-proxy.ts";
import { builds, compare, importFile, say, type Part } from "../bench.ts";
import { realistic, writeOrders } from "../files.ts";

const server = process.env["STARPOST_TEST_POSTGRES"];

/** How long the proxy of `latency` delays each direction, in milliseconds. */
const delayMs = 1;

/** Imports orders into PostgreSQL, and compares that with SQLite. */
export const postgres: Part = async (bench) => {
  if (server === undefined) return skip();
  const file = realistic(bench.rows ?? 150_000);
  const path = writeOrders(bench.folder, file);
  const competitors = {
    ...builds(bench, "PostgreSQL", (build) => withDatabase(server, (env) => importFile(bench, path, { env, build }))),
    ...builds(bench, "SQLite", (build) => importFile(bench, path, { build })),
  };
  return compare(bench, file.rows, competitors, { SQLite: { required: 0.6, aim: 0.8 } });
};

/** Imports orders into PostgreSQL over a slow network, and compares that with loopback. */
export const latency: Part = async (bench) => {
  if (server === undefined) return skip();
  const file = realistic(bench.rows ?? 150_000);
  const path = writeOrders(bench.folder, file);
  const proxy = await startDelayProxy(server, delayMs);
  try {
    const over = (url: string) => (build: string) =>
      withDatabase(server, (env) => importFile(bench, path, { env, build }), url);
    const competitors = {
      ...builds(bench, `${delayMs} ms each way`, over(proxy.url)),
      ...builds(bench, "loopback", over(server)),
    };
    return await compare(bench, file.rows, competitors, { loopback: { required: 0.9, aim: 0.95 } });
  } finally {
    await proxy.close();
  }
};

function skip(): [] {
  say("  skipped: STARPOST_TEST_POSTGRES is not set to the URL of a PostgreSQL server");
  return [];
}

let databases = 0;

/** Creates a database for `use`, which gets the environment with which commands reach it through `through`. */
async function withDatabase<T>(
  url: string,
  use: (env: Record<string, string>) => Promise<T>,
  through = url,
): Promise<T> {
  const name = `starpost_bench_${process.pid}_${++databases}`;
  const client = new Client(url);
  await client.connect();
  try {
    await client.query(`create database ${name} template template0 encoding 'UTF8'`);
    return await use({ STARPOST_DATABASE: Object.assign(new URL(through), { pathname: `/${name}` }).href });
  } finally {
    await client.query(`drop database if exists ${name}`);
    await client.end();
  }
}
