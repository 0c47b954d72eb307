import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterEach, beforeEach, describe, it } from "vitest";
import { openDatabase } from "../../src/storage/database.ts";
import { postgresServer, postgresSkipped, takeDatabase } from "./postgres.ts";

/** A database with the current schema and no rows. */
export interface Place {
  readonly url: string;
  readonly remove: () => Promise<void>;
}

export async function placeOnSqlite(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), "starpost-test-"));
  const url = join(folder, "starpost.db");
  template ??= createTemplate();
  await writeFile(url, await template, { mode: 0o600 });
  return { url, remove: () => rm(folder, { recursive: true }) };
}

/** An empty database, created once per worker: the migrations take longer than most tests. */
let template: Promise<Buffer> | undefined;

async function createTemplate(): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), "starpost-test-"));
  try {
    const path = join(folder, "starpost.db");
    const { db } = await openDatabase(path, { nowMs: Date.UTC(2026, 2, 15, 12) });
    // The driver checkpoints only when its statements are collected, which may be after the file is read.
    await sql`pragma wal_checkpoint(truncate)`.execute(db);
    await db.destroy();
    return await readFile(path);
  } finally {
    await rm(folder, { recursive: true });
  }
}

export async function placeOnPostgres(): Promise<Place> {
  const { url, drop } = await takeDatabase();
  return { url, remove: drop };
}

/** Runs a suite on SQLite and, if there is a server, on PostgreSQL. Each test gets a new database. */
export function describeDatabases(title: string, suite: (url: () => string) => void): void {
  const places = {
    sqlite: placeOnSqlite,
    ...(postgresServer !== undefined && { postgres: placeOnPostgres }),
  };
  describe.each(Object.entries(places))(`${title} on %s`, (_dialect, place) => {
    let held: Place | undefined;
    beforeEach(async () => {
      held = await place();
    });
    afterEach(async () => {
      await held?.remove();
      held = undefined;
    });
    suite(() => {
      if (!held) throw new Error("the database is there only while a test runs");
      return held.url;
    });
  });
  if (postgresServer === undefined) it.skip(`${title} on ${postgresSkipped}`);
}
