import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { inject, vi } from "vitest";
import type { TestProject } from "vitest/node";
import { openDatabase } from "../../src/storage/database.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** The prefix of all database names of a run; undefined without a server. */
    readonly postgresRun: string | undefined;
  }
}

/** The server for test databases; undefined if the variable is not set. */
export const postgresServer = process.env["STARPOST_TEST_POSTGRES"] || undefined;

/** The workers of a Citus cluster whose coordinator is the server; see `.ci/citus`. */
const citusWorkers = process.env["STARPOST_TEST_CITUS_WORKERS"]?.split(",") ?? [];

/** Appears in the titles of skipped tests. */
export const postgresSkipped = "PostgreSQL: skipped because STARPOST_TEST_POSTGRES is not set";

const templateOf = (run: string) => `${run}_template`;

/** Creates the template database before the first test of a run, and drops every database of the run after the last. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (postgresServer === undefined) {
    process.stderr.write(`${postgresSkipped}\n`);
    project.provide("postgresRun", undefined);
    return async () => {};
  }
  const run = `starpost_${randomBytes(5).toString("hex")}`;
  const template = templateOf(run);
  await execute(`create database ${template} template template0 encoding 'UTF8'`);
  const { db } = await openDatabase(addressOf(template), { nowMs: 0 });
  await db.destroy();
  project.provide("postgresRun", run);
  return async () => {
    for (const server of [postgresServer, ...citusWorkers]) {
      const left = await execute(`select datname from pg_database where starts_with(datname, '${run}')`, server);
      for (const { datname } of left) await execute(`drop database if exists ${String(datname)} with (force)`, server);
    }
  };
}

/** The database of one test. */
export interface TestDatabase {
  readonly url: string;
  /** Releases the database and closes its connections. */
  readonly drop: () => Promise<void>;
}

/** Empty databases with the current schema that earlier tests released. */
const free: string[] = [];

/**
 * Returns an empty database with the current schema.
 * @param prepare changes the schema of a new database; databases that it has changed are in `released`
 */
export async function takeDatabase(
  prepare: (url: string) => Promise<void> = async () => {},
  released = free,
): Promise<TestDatabase> {
  let url = released.pop();
  if (url === undefined) {
    url = await create(templateOf(runOf()));
    await prepare(url);
  }
  return {
    url,
    drop: async () => {
      await execute(wipe, url);
      released.push(url);
    },
  };
}

/** Creates a database without tables. */
export async function takeEmptyDatabase(): Promise<TestDatabase> {
  const url = await create("template0");
  return { url, drop: async () => void (await execute(`drop database ${nameIn(url)} with (force)`)) };
}

/** A database with the current schema, and the address of a role that can only have some connections to it. */
export async function takeRestrictedDatabase() {
  const { url, drop } = await takeDatabase();
  const role = `${nameIn(url)}_role`;
  await execute(
    `create role ${role} login;
      grant all on all tables in schema public to ${role}; grant all on all sequences in schema public to ${role}`,
    url,
  );
  const address = new URL(url);
  address.username = role;
  return {
    url: address.href,
    /** Closes the connections of the role, and limits new ones; -1 stands for any number. */
    limitConnections: async (limit: number) => {
      await execute(
        `alter role ${role} connection limit ${limit};
          select pg_terminate_backend(pid, 5000) from pg_stat_activity where usename = '${role}'`,
      );
    },
    drop: async () => {
      await drop();
      await execute(`drop owned by ${role}; drop role ${role}`, url);
    },
  };
}

/**
 * Deletes all rows, which takes a sixth of the time of creating a database. Tables are emptied in reverse order of
 * creation, because of foreign keys.
 */
const wipe = `do $$
  declare held record;
  begin
    perform pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend';
    -- Citus: reference tables can be changed after distributed ones.
    perform set_config('citus.multi_shard_modify_mode', 'sequential', true);
    for held in select oid::regclass as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'r' and relname <> 'starpost_migrations'
      order by oid desc
    loop execute format('delete from %s', held.name); end loop;
    perform setval(oid::regclass, 1, false) from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'S';
  end $$`;

function runOf(): string {
  const run = inject("postgresRun");
  if (run === undefined) throw new Error("there is no PostgreSQL server for tests");
  return run;
}

async function create(template: string): Promise<string> {
  const name = `${runOf()}_${randomBytes(5).toString("hex")}`;
  await execute(`create database ${name} template ${template} encoding 'UTF8'`);
  return addressOf(name);
}

/** Creates databases of the same name on the workers, and adds them to the database. */
export async function addCitusWorkers(url: string): Promise<void> {
  const name = nameIn(url);
  const hostOf = (address: string) => `'${new URL(address).hostname}', ${new URL(address).port}`;
  await execute("create extension citus", url);
  await execute(`select citus_set_coordinator_host(${hostOf(url)})`, url);
  for (const worker of citusWorkers) {
    await execute(`create database ${name} template template0 encoding 'UTF8'`, worker);
    await execute("create extension citus", addressOf(name, worker));
    // Citus changes roles, which belong to all databases, so adding nodes to several of them at once can fail.
    await vi.waitFor(() => execute(`select citus_add_node(${hostOf(worker)})`, url), {
      timeout: 30_000,
      interval: 500,
    });
  }
}

function addressOf(name: string, server = postgresServer): string {
  const url = new URL(server ?? "");
  url.pathname = `/${name}`;
  return url.href;
}

function nameIn(url: string): string {
  return new URL(url).pathname.slice(1);
}

/** Runs a statement in its own connection to the server or to one of its databases. */
export async function execute(sql: string, url = postgresServer): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  // A lost connection is reported by the statement.
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}
