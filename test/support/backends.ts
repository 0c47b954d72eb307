import { randomBytes } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, it } from "vitest";
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
import { type Place, placeOnPostgres, placeOnSqlite } from "./databases.ts";
import { postgresServer, postgresSkipped } from "./postgres.ts";
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
  /** The database ID of the account that was made last. */
  readonly newestAccountId: () => Promise<number>;
  readonly close: () => Promise<void>;
}

export interface Backend {
  readonly name: string;
  readonly open: (options?: HarnessOptions) => Promise<Harness>;
}

/** Noon, so that a test can move the clock by hours without changing the day. */
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
    newestAccountId: async () => {
      const newest = database.db.selectFrom("accounts").select("id").orderBy("id", "desc").limit(1);
      return (await newest.executeTakeFirstOrThrow()).id;
    },
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

type Suite = (harness: () => Harness) => void;

/**
 * Runs a suite over every backend. Its tests share one database: each makes its own accounts, and the clock is set back
 * before each.
 */
export function describeBackends(title: string, suite: Suite, options?: HarnessOptions): void {
  describeEach(title, suite, ({ start, stop, reset }) => {
    beforeAll(() => start(options));
    beforeEach(reset);
    afterAll(stop);
  });
}

/**
 * Runs a suite over every backend with a new database for every test: for suites about workers, several accounts, or
 * all rows of a table.
 */
export function describeIsolated(title: string, suite: Suite, options?: HarnessOptions): void {
  describeEach(title, suite, ({ start, stop }) => {
    beforeEach(() => start(options));
    afterEach(stop);
  });
}

interface Lifecycle {
  readonly start: (options?: HarnessOptions) => Promise<void>;
  readonly stop: () => Promise<void>;
  readonly reset: () => void;
}

function describeEach(title: string, suite: Suite, addHooks: (lifecycle: Lifecycle) => void): void {
  describe.each(backends)(`${title} over $name`, ({ open }) => {
    let current: Harness | undefined;
    addHooks({
      start: async (options) => {
        current = await open(options);
      },
      stop: async () => {
        await current?.close();
        current = undefined;
      },
      reset: () => current?.clock.advance(startMs - current.clock()),
    });
    suite(() => {
      if (!current) throw new Error("The harness is open only while a test runs.");
      return current;
    });
  });
  if (postgresServer === undefined) it.skip(`${title} over ${postgresSkipped}`);
}
