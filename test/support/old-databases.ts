import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, it, onTestFinished } from "vitest";
import type { OperationName } from "../../src/contract/index.ts";
import { SqliteFile } from "../../src/storage/sqlite/sqlite-file.ts";
import { execute, postgresServer, postgresSkipped, takeEmptyDatabase } from "./postgres.ts";

const folder = "fixtures/databases";

/** What belongs to the databases with schema 23, which commit af372b16 made. */
interface OldShop {
  readonly sealingKey: string;
  readonly nowMs: number;
  /** Callers with tokens, by the number in `answers`. */
  readonly accounts: readonly { readonly appKey: string; readonly utoken: string }[];
  /** What that commit responded. */
  readonly answers: readonly (readonly [
    account: number,
    name: OperationName,
    input: Readonly<Record<string, unknown>>,
    answer: unknown,
  ])[];
}

export const oldShop = JSON.parse(readFileSync(`${folder}/schema-23.json`, "utf8")) as OldShop;

async function placeOnSqlite(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), "starpost-test-"));
  onTestFinished(() => rm(made, { recursive: true }));
  const path = join(made, "starpost.db");
  await writeFile(path, gunzipSync(readFileSync(`${folder}/schema-23.db.gz`)), { mode: 0o600 });
  return path;
}

async function placeOnPostgres(): Promise<string> {
  const { url, drop } = await takeEmptyDatabase();
  onTestFinished(drop);
  await execute(String(gunzipSync(readFileSync(`${folder}/schema-23.sql.gz`))), url);
  return url;
}

/** Runs a suite on each kind of database. `place` returns the address of a copy with schema 23. */
export function describeOldDatabases(title: string, suite: (place: () => Promise<string>) => void): void {
  describe(`${title} on SQLite`, () => suite(placeOnSqlite));
  describe.skipIf(postgresServer === undefined)(`${title} on PostgreSQL`, () => suite(placeOnPostgres));
  if (postgresServer === undefined) it.skip(`${title} on ${postgresSkipped}`);
}

/** Makes a database look as if its schema were another one. */
export function setSchemaVersion(url: string, version: number): Promise<void> {
  return changeDatabase(
    url,
    `delete from starpost_migrations;
    insert into starpost_migrations (version, name, applied_at) values (${version}, 'other', 0)`,
  );
}

/** Runs statements without opening the database as the program does. */
export async function changeDatabase(url: string, statement: string): Promise<void> {
  if (url.startsWith("postgres")) {
    await execute(statement, url);
    return;
  }
  const file = new SqliteFile(url);
  file.execute(statement);
  file.close();
}
