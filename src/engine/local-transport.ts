import { bottomLinesDelayMs, type Endpoint, endpointOf, type OperationName } from "../contract/index.ts";
import type { OutputOf, Transport } from "../service/transport.ts";
import type { Transaction } from "kysely";
import type { Database } from "../storage/database.ts";
import type { Tables } from "../storage/tables.ts";
import { WriteQueue } from "../storage/write-queue.ts";
import { AnswerCache } from "./kernel/response-cache.ts";
import { authenticate } from "./kernel/authenticate.ts";
import { changes, checks, preparations } from "./call-preparation.ts";
import type { Account, HandlerContext, RandomBytes } from "./kernel/handler.ts";
import { findHandler } from "./handlers.ts";
import { KnownAccounts } from "./kernel/known-accounts.ts";
import { createRateWindow } from "./kernel/rate-window.ts";
import { SavedProducts } from "./kernel/saved-products.ts";
import type { Sealer } from "./kernel/sealer.ts";
import { asRefusal } from "./kernel/storage-errors.ts";
import { validateInput } from "./kernel/validate.ts";

export interface LocalTransportOptions {
  readonly database: Database;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly random: RandomBytes;
  readonly sealer: Sealer;
  /** Whether rate limits are kept. */
  readonly enforceLimits: boolean;
  /** Whether the calls of an account that have no limit in the specification are limited as well. */
  readonly limitLegacy?: boolean | undefined;
  /** Where the service is reached by everybody; asked for with each call, since a server learns it late. */
  readonly publicUrl?: (() => string) | undefined;
  /** How late the bottom lines of all products are, milliseconds; an hour where absent. */
  readonly bottomLinesDelayMs?: number | undefined;
  /** Whether webhooks may be of machines of the own network; not where absent. */
  readonly allowsPrivateWebhooks?: boolean | undefined;
}

/** Work on the database that no call asks for: what a worker does with the outbox. */
export interface EngineWork {
  /** Sees one state of the database. */
  readonly read: <T>(work: (context: HandlerContext) => Promise<T>) => Promise<T>;
  /** One transaction, under the write lock, after those of the calls that wait for it already. */
  readonly write: <T>(work: (context: HandlerContext) => Promise<T>) => Promise<T>;
}

/** The engine as a Transport, and for a worker. */
export interface LocalTransport extends Transport {
  readonly work: EngineWork;
}

/** Where `serve` listens by itself. */
const usualPublicUrl = "http://127.0.0.1:8080";

/**
 * Answers calls from the database: authenticate, validate, one transaction, handler.
 * Closing it closes the database.
 */
export function createLocalTransport(options: LocalTransportOptions): LocalTransport {
  const { database, clock } = options;
  const limiting = options.enforceLimits
    ? { window: createRateWindow(database, clock), limitLegacy: options.limitLegacy ?? false }
    : undefined;
  const known = new KnownAccounts();
  const shared = {
    writes: new WriteQueue(database.db),
    savedProducts: new SavedProducts(),
    answers: new AnswerCache(database),
  };
  return {
    call: async (operation, input, caller, { signal, onEvent, isChecked } = {}) => {
      signal?.throwIfAborted();
      const endpoint = endpointOf(operation);
      const nowMs = clock();
      try {
        const account = await authenticate(database, endpoint, caller, { nowMs, limiting, onEvent, known });
        const valid = validateInput(endpoint, input);
        const run = { ...options, ...shared, account, nowMs, isChecked };
        const given = (await changes[operation]?.(valid, run)) ?? valid;
        const found = await runHandler(operation, endpoint, given, run);
        return found as OutputOf<typeof operation>;
      } catch (error) {
        throw asRefusal(error, database.shownAs);
      }
    },
    work: createWork({ ...options, ...shared }, clock),
    close: () => database.db.destroy(),
  };
}

function createWork(shared: Omit<Run, "account" | "nowMs" | "isChecked">, clock: () => number): EngineWork {
  const now = (): Run => ({ ...shared, account: undefined, isChecked: undefined, nowMs: clock() });
  const wrap = async <T>(done: Promise<T>): Promise<T> => {
    try {
      return await done;
    } catch (error) {
      throw asRefusal(error, shared.database.shownAs);
    }
  };
  return {
    read: (work) => {
      const run = now();
      return wrap(read(run, (transaction) => work(createContext(transaction, run))));
    },
    write: (work) => {
      const run = now();
      return wrap(write(run, (transaction) => work(createContext(transaction, run))));
    },
  };
}

interface Run extends LocalTransportOptions {
  readonly writes: WriteQueue;
  readonly savedProducts: SavedProducts;
  readonly answers: AnswerCache;
  readonly isChecked: boolean | undefined;
  readonly account: Account | undefined;
  readonly nowMs: number;
}

async function runHandler(
  operation: OperationName,
  endpoint: Endpoint,
  input: unknown,
  run: Run,
): Promise<unknown> {
  const handler = await findHandler(operation);
  const { savedProducts, answers } = run;
  const answer = (transaction: Transaction<Tables>) => handler(input, createContext(transaction, run));
  const check = checks[operation];
  if (check) await read(run, (transaction) => check(input, createContext(transaction, run)));
  await prepare(operation, run);
  if (endpoint.effect !== "read") {
    // What was saved is forgotten at once where the call fails, before the next one looks, and where its commit does.
    const forget = (error: unknown) => {
      savedProducts.forget();
      throw error;
    };
    return write(run, (transaction) => answer(transaction).catch(forget)).catch(forget);
  }
  return answers.read({ operation, accountId: run.account?.id, input }, () => read(run, answer));
}

/** In transactions of its own, with room for other calls between. */
async function prepare(operation: OperationName, run: Run): Promise<void> {
  const preparation = await preparations[operation]?.();
  if (!preparation) return;
  const { isDue, write: writeNext } = preparation;
  while (await read(run, (transaction) => isDue(createContext(transaction, run)))) {
    await write(run, (transaction) => writeNext(createContext(transaction, run)));
  }
}

function read<T>({ database }: Run, work: (transaction: Transaction<Tables>) => Promise<T>): Promise<T> {
  return database.db.transaction().setAccessMode("read only").execute(work);
}

async function write<T>(
  { writes, answers }: Run,
  work: (transaction: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  try {
    return await writes.run(work);
  } finally {
    answers.noteWrite();
  }
}

function createContext(transaction: Transaction<Tables>, run: Run): HandlerContext {
  const { database, savedProducts, account, nowMs, random, sealer, isChecked } = run;
  return {
    transaction,
    dialect: database.dialect,
    nowMs,
    random,
    sealer,
    savedProducts,
    isChecked,
    publicUrl: run.publicUrl?.() ?? usualPublicUrl,
    bottomLinesDelayMs: run.bottomLinesDelayMs ?? bottomLinesDelayMs,
    allowsPrivateWebhooks: run.allowsPrivateWebhooks,
    ...(account && { account }),
  };
}
