import { randomBytes } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { PublicLimits } from "../../src/contract/index.ts";
import { createHttpTransport } from "../../src/client/http-transport.ts";
import type { HandlerContext } from "../../src/engine/kernel/handler.ts";
import type { EngineWork } from "../../src/engine/kernel/handler.ts";
import { createLocalTransport } from "../../src/engine/local-transport.ts";
import { SavedProducts } from "../../src/engine/kernel/saved-products.ts";
import { createSealer, type Sealer } from "../../src/engine/kernel/sealer.ts";
import { createUser } from "../../src/engine/accounts/users.ts";
import { savePrivateWebhooks } from "../../src/engine/webhooks/private-webhooks.ts";
import { createService, type Service } from "../../src/service/service.ts";
import type { Caller, Transport } from "../../src/service/transport.ts";
import { type Database, openDatabase } from "../../src/storage/database.ts";
import { type Place, places, type TestedPlace } from "./databases.ts";
import { findMissedAccounts } from "./due-emails.ts";
import { postgresServer, postgresSkipped } from "./postgres.ts";
import { takeServer } from "./shared-server.ts";
import { isMutationSuite, testsAllPairs } from "./suite-size.ts";

/** A clock that only the test advances. */
export interface TestClock {
  (): number;
  advance: (ms: number) => void;
  /** Sets the time, also to an impossible one. */
  set: (ms: number) => void;
}

/** An account created for a test, and a service with its credentials. */
export interface TestAccount {
  readonly caller: { readonly appKey: string; readonly utoken: string };
  readonly secret: string;
  readonly userId: number;
  readonly service: Service;
}

export interface Harness {
  readonly transport: Transport;
  /** The database of the transport, for states that no operation can create. */
  readonly database: Database;
  readonly clock: TestClock;
  /** The sealer that signs and encrypts tokens. */
  readonly sealer: Sealer;
  readonly sealingKey: Buffer;
  /** The interface that workers use. */
  readonly work: EngineWork;
  readonly service: (caller: Caller) => Service;
  /** Creates an account that may send emails through a mail server, unless `maySendEmail` is false. */
  readonly newAccount: (displayName?: string, options?: { readonly maySendEmail?: boolean }) => Promise<TestAccount>;
  /** Returns the database ID of the newest account. */
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
    set: (ms: number) => {
      now = ms;
    },
  });
}

/** Engine options of a backend; omitted options have the server's defaults. */
export interface HarnessOptions {
  readonly enforceLimits?: boolean;
  readonly limitLegacy?: boolean;
  readonly publicLimits?: PublicLimits;
  /** Whether the operator allows the webhooks of new accounts to call private addresses. */
  readonly allowsPrivateWebhooks?: boolean;
  readonly isSignUpClosed?: boolean;
  /** The space that the photos of an account may take up. */
  readonly photoStorageBytes?: number;
  /** The key with which the secrets in an existing database are sealed. */
  readonly sealingKey?: Buffer | undefined;
}

interface HarnessParts extends Pick<Harness, "transport" | "database" | "clock" | "work" | "sealingKey" | "close"> {
  readonly allowsPrivateWebhooks: boolean;
  /** The context of a handler, except for its transaction. */
  readonly context: Omit<HandlerContext, "transaction">;
}

async function openLocal(
  place: () => Promise<Place>,
  {
    enforceLimits = false,
    allowsPrivateWebhooks = false,
    sealingKey = randomBytes(32),
    ...others
  }: HarnessOptions = {},
): Promise<HarnessParts> {
  const { url, remove } = await place();
  const clock = createClock();
  const database = await openDatabase(url, { nowMs: clock() });
  const sealer = createSealer(sealingKey);
  const options = { database, clock, random: randomBytes, sealer, enforceLimits, ...others };
  const transport = createLocalTransport(options);
  return {
    transport,
    database,
    clock,
    allowsPrivateWebhooks,
    work: transport.work,
    sealingKey,
    context: {
      dialect: database.dialect,
      nowMs: clock(),
      random: randomBytes,
      sealer,
      savedProducts: new SavedProducts(),
      publicUrl: "http://127.0.0.1",
    },
    close: async () => {
      await transport.close();
      await remove();
    },
  };
}

/** Opens the engine behind a server and a client: over loopback, without pacing or retries. */
async function openRemote(place: () => Promise<Place>, options?: HarnessOptions): Promise<HarnessParts> {
  const local = await openLocal(place, options);
  const { url, release } = await takeServer(local.transport);
  // The client uses real time, independent of the test clock.
  const clock = () => Date.now();
  const transport = createHttpTransport({ baseUrl: url, ratePerSecond: 0, maxAttempts: 1, maxRetryMs: 0, clock });
  return {
    ...local,
    transport,
    close: async () => {
      await transport.close();
      release();
      await local.close();
    },
  };
}

/** Adds the helpers that suites need to a transport and its database. */
function createHarness({ context, allowsPrivateWebhooks, ...parts }: HarnessParts): Harness {
  const { transport, database, clock } = parts;
  let accounts = 0;
  return {
    ...parts,
    close: async () => {
      try {
        expect(await findMissedAccounts(database, clock())).toEqual([]);
      } finally {
        await parts.close();
      }
    },
    sealer: context.sealer,
    service: (caller) => createService(transport, caller),
    newestAccountId: async () => {
      const newest = database.db.selectFrom("accounts").select("id").orderBy("id", "desc").limit(1);
      return (await newest.executeTakeFirstOrThrow()).id;
    },
    // Calls the handler directly: the complete operation hashes a password, which takes longer than most tests.
    newAccount: async (displayName, { maySendEmail = true } = {}) => {
      accounts += 1;
      const user = {
        email: `owner${accounts}@shop.example`,
        display_name: displayName ?? `Owner ${accounts}`,
        password: "no password",
        url: "https://shop.example",
      };
      const created = await database.db
        .transaction()
        .execute((transaction) => createUser(user, { ...context, transaction, nowMs: clock() }));
      if (allowsPrivateWebhooks) {
        await parts.work.write(undefined, (operator) => savePrivateWebhooks(created.app_key, true, operator));
      }
      if (maySendEmail) {
        const id = database.db.selectFrom("accounts").select("id").where("app_key", "=", created.app_key);
        const { id: account_id } = await id.executeTakeFirstOrThrow();
        await database.db.insertInto("email_permissions").values({ account_id, enabled_at: clock() }).execute();
      }
      const caller = { appKey: created.app_key, utoken: created.token };
      const service = createService(transport, caller);
      return { caller, secret: created.secret, userId: created.user_id, service };
    },
  };
}

function describeLocal({ kind, place }: TestedPlace): Backend {
  return { name: `local-${kind}`, open: async (options) => createHarness(await openLocal(place, options)) };
}

function describeRemote({ kind, place }: TestedPlace): Backend {
  return { name: `remote-${kind}`, open: async (options) => createHarness(await openRemote(place, options)) };
}

/** The engine in this process on each kind of database. */
export const engines: readonly Backend[] = places.map(describeLocal);

/**
 * Pairs of a way to the engine and a database. By default, one of the two ways is combined with each database, so that
 * every statement runs on both databases and every call also over HTTP. The way to the server is the same for all other kinds
 * of database. Mutants are tested with the first pair only.
 */
export const backends: readonly Backend[] = chooseBackends();

function chooseBackends(): readonly Backend[] {
  const remote = places.filter(({ kind }) => kind === "sqlite" || kind === "postgres").map(describeRemote);
  if (isMutationSuite) return engines.slice(0, 1);
  return testsAllPairs ? [...engines, ...remote] : [...engines.slice(0, 1), ...remote.slice(-1)];
}

/** Opens the engine on a database that the test sets up. */
export async function openEngine(place: () => Promise<Place>, sealingKey?: Buffer): Promise<Harness> {
  return createHarness(await openLocal(place, { sealingKey }));
}

type Suite = (harness: () => Harness) => void;

/**
 * Runs a suite over every backend. Its tests share one database: each makes its own accounts, and the clock is set back
 * before each.
 */
export function describeBackends(title: string, suite: Suite, options?: HarnessOptions): void {
  describeEach(title, suite, shareDatabase(options));
}

function shareDatabase(options: HarnessOptions | undefined): (lifecycle: Lifecycle) => void {
  return ({ start, stop, reset }) => {
    beforeAll(() => start(options));
    beforeEach(reset);
    afterAll(stop);
  };
}

/** Runs a suite as `describeBackends` does, but only on the engine: the client waits after status 429. */
export function describeEngine(title: string, suite: Suite, options?: HarnessOptions): void {
  describeEach(title, suite, shareDatabase(options), engines);
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

function describeEach(
  title: string,
  suite: Suite,
  addHooks: (lifecycle: Lifecycle) => void,
  on: readonly Backend[] = backends,
): void {
  describe.each(on)(`${title} over $name`, ({ open }) => {
    let current: Harness | undefined;
    addHooks({
      start: async (options) => {
        current = await open(options);
      },
      stop: async () => {
        await current?.close();
        current = undefined;
      },
      reset: () => current?.clock.set(startMs),
    });
    suite(() => {
      if (!current) throw new Error("The harness is open only while a test runs.");
      return current;
    });
  });
  if (postgresServer === undefined) it.skip(`${title} over ${postgresSkipped}`);
}
