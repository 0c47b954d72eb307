import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterEach, beforeEach, describe, it } from "vitest";
import { bottomLinesDelayMs } from "../../src/contract/index.ts";
import { createHttpTransport } from "../../src/client/http-transport.ts";
import type { HandlerContext } from "../../src/engine/kernel/handler.ts";
import type { EngineWork } from "../../src/engine/kernel/handler.ts";
import { createLocalTransport } from "../../src/engine/local-transport.ts";
import { SavedProducts } from "../../src/engine/kernel/saved-products.ts";
import { createSealer, type Sealer } from "../../src/engine/kernel/sealer.ts";
import { userHandlers } from "../../src/engine/accounts/users.ts";
import { createServer } from "../../src/server/server.ts";
import { createService, type Service } from "../../src/service/service.ts";
import type { Caller, Transport } from "../../src/service/transport.ts";
import { type Database, openDatabase } from "../../src/storage/database.ts";
import type { DialectName } from "../../src/storage/dialect.ts";
import { takeDatabase, postgresServer, postgresSkipped } from "./postgres.ts";
import { silentLog } from "./silent-log.ts";

/** A clock that only a test moves. */
export interface TestClock {
  (): number;
  advance: (ms: number) => void;
}

/** An account made for a test, and the service as it sees it. */
export interface TestAccount {
  readonly caller: { readonly appKey: string; readonly utoken: string };
  readonly secret: string;
  readonly userId: number;
  readonly service: Service;
}

export interface Harness {
  readonly transport: Transport;
  /** What the transport stores in, for states that no call brings about. */
  readonly database: Database;
  readonly clock: TestClock;
  /** What the store signs and seals with. */
  readonly sealer: Sealer;
  /** The store as a worker has it. */
  readonly work: EngineWork;
  readonly service: (caller: Caller) => Service;
  readonly newAccount: (displayName?: string) => Promise<TestAccount>;
  readonly close: () => Promise<void>;
}

export interface Backend {
  readonly name: string;
  readonly open: (options?: HarnessOptions) => Promise<Harness>;
}

/** Noon of a day, so that a test can move by hours without changing the day. */
export const startMs = Date.UTC(2026, 2, 15, 12);

export function createClock(nowMs = startMs): TestClock {
  let now = nowMs;
  return Object.assign(() => now, {
    advance: (ms: number) => {
      now += ms;
    },
  });
}

/** How a backend's engine is set up; what is absent is as a server has it. */
export interface HarnessOptions {
  readonly enforceLimits?: boolean;
  readonly limitLegacy?: boolean;
  readonly allowsPrivateWebhooks?: boolean;
}

interface HarnessParts extends Pick<Harness, "transport" | "database" | "clock" | "work" | "close"> {
  /** What a handler of the store is given beside its transaction. */
  readonly context: Omit<HandlerContext, "transaction">;
}

/** A place for one test's database, and how to remove it. */
interface Place {
  readonly url: string;
  readonly remove: () => Promise<void>;
}

async function placeOnSqlite(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), "starpost-test-"));
  const url = join(folder, "starpost.db");
  template ??= readTemplate();
  await writeFile(url, await template, { mode: 0o600 });
  return { url, remove: () => rm(folder, { recursive: true }) };
}

/** A database with its schema and nothing in it, made once: to make it takes longer than most tests. */
let template: Promise<Buffer> | undefined;

async function readTemplate(): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), "starpost-test-"));
  try {
    const path = join(folder, "starpost.db");
    const { db } = await openDatabase(path, { nowMs: startMs });
    // Closing does it only once the driver's statements are collected, which may be while the file is read.
    await sql`pragma wal_checkpoint(truncate)`.execute(db);
    await db.destroy();
    return await readFile(path);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function placeOnPostgres(): Promise<Place> {
  const { url, drop } = await takeDatabase();
  return { url, remove: drop };
}

async function openLocal(
  place: () => Promise<Place>,
  { enforceLimits = false, ...others }: HarnessOptions = {},
): Promise<HarnessParts> {
  const { url, remove } = await place();
  const clock = createClock();
  const database = await openDatabase(url, { nowMs: clock() });
  const sealer = createSealer(randomBytes(32));
  const options = { database, clock, random: randomBytes, sealer, enforceLimits, ...others };
  const transport = createLocalTransport(options);
  return {
    transport,
    database,
    clock,
    work: transport.work,
    context: {
      dialect: database.dialect,
      nowMs: clock(),
      random: randomBytes,
      sealer,
      savedProducts: new SavedProducts(),
      publicUrl: "http://127.0.0.1",
      bottomLinesDelayMs,
    },
    close: async () => {
      await transport.close();
      await remove();
    },
  };
}

/** The same store behind the server, reached by the client: over loopback, unpaced, each call tried once. */
async function openRemote(place: () => Promise<Place>, options?: HarnessOptions): Promise<HarnessParts> {
  const local = await openLocal(place, options);
  const server = createServer(local.transport, { logger: silentLog });
  const { url } = await server.listen({ host: "127.0.0.1", port: 0 });
  // The client waits in real time, whatever the time of the store.
  const clock = () => Date.now();
  const transport = createHttpTransport({
    baseUrl: url,
    ratePerSecond: 0,
    maxAttempts: 1,
    maxRetryMs: 0,
    clock,
  });
  return {
    ...local,
    transport,
    close: async () => {
      await transport.close();
      await server.close();
      await local.close();
    },
  };
}

function backendsOn(dialect: DialectName, place: () => Promise<Place>): Backend[] {
  return [
    { name: `local-${dialect}`, open: async (options) => createHarness(await openLocal(place, options)) },
    { name: `remote-${dialect}`, open: async (options) => createHarness(await openRemote(place, options)) },
  ];
}

/** Adds to a transport and its store what every suite asks of them. */
function createHarness({ context, ...parts }: HarnessParts): Harness {
  const { transport, database, clock } = parts;
  let accounts = 0;
  return {
    ...parts,
    sealer: context.sealer,
    service: (caller) => createService(transport, caller),
    // The handler of the call alone: what comes before it hashes a password, which takes longer than most tests.
    newAccount: async (displayName) => {
      accounts += 1;
      const user = {
        email: `owner${accounts}@shop.example`,
        display_name: displayName ?? `Owner ${accounts}`,
        password: "no password",
        url: "https://shop.example",
      };
      const made = await database.db
        .transaction()
        .execute((transaction) => userHandlers.create({ user }, { ...context, transaction, nowMs: clock() }));
      const caller = { appKey: made.app_key, utoken: made.token };
      const service = createService(transport, caller);
      return { caller, secret: made.secret, userId: made.user_id, service };
    },
  };
}

/** Local and remote over SQLite, and over PostgreSQL where there is one. */
export const backends: readonly Backend[] = [
  ...backendsOn("sqlite", placeOnSqlite),
  ...(postgresServer === undefined ? [] : backendsOn("postgres", placeOnPostgres)),
];

/** Runs a suite over every backend, each test on a store of its own. */
export function describeBackends(
  title: string,
  suite: (harness: () => Harness) => void,
  options?: HarnessOptions,
): void {
  describe.each(backends)(`${title} over $name`, ({ open }) => {
    let held: Harness | undefined;
    beforeEach(async () => {
      held = await open(options);
    });
    afterEach(async () => {
      await held?.close();
      held = undefined;
    });
    suite(() => {
      if (!held) throw new Error("the harness is open only while a test runs");
      return held;
    });
  });
  if (postgresServer === undefined) it.skip(`${title} over ${postgresSkipped}`);
}

/** Runs a suite on a database of its own for each test, on SQLite and, where there is one, on PostgreSQL. */
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
