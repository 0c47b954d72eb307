import type { Transaction } from "kysely";
import { type Endpoint, endpointOf, type OperationName } from "../contract/index.ts";
import type { CallEvent, OutputOf, Transport } from "../service/transport.ts";
import type { Tables } from "../storage/tables.ts";
import { type Combinable, WriteQueue } from "../storage/write-queue.ts";
import { checks, completions, preloads, preparations, transforms } from "./call-preparation.ts";
import { findCombinedHandler, findHandler } from "./handlers.ts";
import { authenticate } from "./kernel/authenticate.ts";
import { type CallLimitOptions, CallLimits } from "./kernel/call-limits.ts";
import type { Account, EngineWork, HandlerContext, RandomBytes } from "./kernel/handler.ts";
import { hashCall, honoredKey, type KeyedCall, runAllOnce, runOnce } from "./kernel/idempotency.ts";
import { ResponseCache } from "./kernel/response-cache.ts";
import { SavedProducts } from "./kernel/saved-products.ts";
import type { Sealer } from "./kernel/sealer.ts";
import { limitPublicCall } from "./public-calls.ts";
import { toServiceError } from "./kernel/storage-errors.ts";
import { checkClock } from "./kernel/times.ts";
import { validateInput } from "./kernel/validate.ts";

export interface LocalTransportOptions extends CallLimitOptions {
  readonly random: RandomBytes;
  readonly sealer: Sealer;
  /** Returns the service's public base URL. Read on each call, because a server learns its port only once it listens. */
  readonly publicUrl?: (() => string) | undefined;
  /** Replaces the delay of the bottom lines of all products that each account has set, in milliseconds. */
  readonly bottomLinesDelayMs?: number | undefined;
  /** The app key of the account whose webhooks this machine allows to call private addresses. */
  readonly privateWebhooksFor?: string | undefined;
  /** Whether only people with an invitation may create accounts (default: false). */
  readonly isSignUpClosed?: boolean | undefined;
}

/** The engine as a Transport, with database access for a worker. */
export interface LocalTransport extends Transport {
  readonly work: EngineWork;
}

/** The default address of `starpost serve`. */
const defaultPublicUrl = "http://127.0.0.1:8080";

/**
 * Handles calls on the database: authenticate, validate, run the handler in one transaction.
 * Closing the transport closes the database.
 */
export function createLocalTransport(options: LocalTransportOptions): LocalTransport {
  const { database } = options;
  const clock = checkClock(options.clock);
  const limits = new CallLimits(options);
  const shared = {
    writes: new WriteQueue(database.db, { overlapsCommits: database.dialect.isServer }),
    savedProducts: new SavedProducts(),
    responses: new ResponseCache(database),
  };
  return {
    call: async (operation, input, caller, callOptions = {}) => {
      const { signal, onEvent, isChecked, idempotencyKey, inputText, clientAddress } = callOptions;
      signal?.throwIfAborted();
      const endpoint = endpointOf(operation);
      const nowMs = clock();
      try {
        const account = await authenticate(database, endpoint, caller, nowMs);
        if (!endpoint.needsSecret) await limits.count({ endpoint, account, onEvent });
        const key = honoredKey(endpoint, account, idempotencyKey);
        const run = { ...options, ...shared, account, nowMs, isChecked, key, inputText, onEvent };
        const valid = isChecked === true ? input : validateInput(endpoint, input);
        await checkCall(operation, valid, run);
        if (endpoint.needsSecret) await limits.count({ endpoint, account, onEvent });
        const reader = <T>(work: (context: HandlerContext) => Promise<T>) =>
          read(run, (transaction) => work(createContext(transaction, run)));
        const { isSignUpClosed } = options;
        const called = { operation, endpoint, input: valid, account, clientAddress, isSignUpClosed, read: reader };
        await limitPublicCall(called, limits);
        const prepared = (await transforms[operation]?.(valid, run)) ?? valid;
        const stored = await runHandler(operation, endpoint, prepared, run);
        const output = (await completions[operation]?.(stored, prepared, account)) ?? stored;
        return output as OutputOf<typeof operation>;
      } catch (error) {
        await limits.countFailure(error, endpoint, clientAddress);
        throw toServiceError(error, database.shownAs);
      }
    },
    work: createWork({ ...options, ...shared }, clock),
    close: () => database.db.destroy(),
  };
}

function createWork(shared: Omit<Run, "account" | "nowMs">, clock: () => number): EngineWork {
  const start = (): Run => ({ ...shared, account: undefined, nowMs: clock() });
  const convertErrors = async <T>(result: Promise<T>): Promise<T> => {
    try {
      return await result;
    } catch (error) {
      throw toServiceError(error, shared.database.shownAs);
    }
  };
  return {
    read: async (work) => {
      const run = start();
      return convertErrors(read(run, (transaction) => work(createContext(transaction, run))));
    },
    write: async (work) => {
      const run = start();
      return convertErrors(write(run, (transaction) => work(createContext(transaction, run))));
    },
  };
}

interface Run extends LocalTransportOptions {
  readonly writes: WriteQueue;
  readonly savedProducts: SavedProducts;
  readonly responses: ResponseCache;
  readonly isChecked?: boolean | undefined;
  /** The idempotency key, if the call honors it. */
  readonly key?: string | undefined;
  readonly inputText?: string | undefined;
  readonly onEvent?: ((event: CallEvent) => void) | undefined;
  readonly account: Account | undefined;
  readonly nowMs: number;
}

async function runHandler(operation: OperationName, endpoint: Endpoint, input: unknown, run: Run): Promise<unknown> {
  const handler = await findHandler(operation);
  const { savedProducts, responses } = run;
  const handle = (transaction: Transaction<Tables>) => handler(input, createContext(transaction, run));
  await prepare(operation, input, run);
  if (endpoint.effect !== "read") {
    // Clear the saved products as soon as the handler fails, before the next queued call reads them, and again if
    // the commit fails.
    const clearAndRethrow = (error: unknown) => {
      savedProducts.clear();
      throw error;
    };
    const { key, inputText, onEvent } = run;
    if (key === undefined) {
      return write(run, (transaction) => handle(transaction).catch(clearAndRethrow)).catch(clearAndRethrow);
    }
    const call = { operation, endpoint, key, input, inputText };
    hashCall(call);
    const preload = preloads[operation];
    const handleOnce = (transaction: Transaction<Tables>) => {
      const context = createContext(transaction, run);
      return runOnce(call, context, () => handler(input, context), preload && (() => preload(input, context)));
    };
    const { output, isReplay } = await write(
      run,
      (transaction) => handleOnce(transaction).catch(clearAndRethrow),
      await findCombination(call, run),
    ).catch(clearAndRethrow);
    onEvent?.({ type: "idempotency", isReplay });
    return output;
  }
  return responses.read({ operation, accountId: run.account?.id, input }, () => read(run, handle));
}

type OnceResult = Awaited<ReturnType<typeof runOnce>>;

/** How a call with an idempotency key is carried out together with other waiting calls of the account, if it can be. */
async function findCombination(
  call: KeyedCall & { readonly operation: OperationName },
  run: Run,
): Promise<Combinable<OnceResult> | undefined> {
  const { operation, input, key } = call;
  const handler = await findCombinedHandler(operation);
  if (!handler || !run.account || !handler.accepts(input, run.account)) return undefined;
  return {
    key: `${operation} ${run.account.id}`,
    id: key,
    input: call,
    workOnAll: (calls, transaction) => {
      const context = createContext(transaction, run);
      return runAllOnce(calls as readonly KeyedCall[], context, (open) =>
        handler.handleAll(
          open.map((each) => each.input),
          context,
        ),
      );
    },
  };
}

/** Rejects a call before its input is transformed and before it takes the write lock. */
async function checkCall(operation: OperationName, input: unknown, run: Run): Promise<void> {
  const check = checks[operation];
  if (check) await read(run, (transaction) => check(input, createContext(transaction, run)));
}

/** Runs each step of the preparation in its own transaction, so that other calls can run in between. */
async function prepare(operation: OperationName, input: unknown, run: Run): Promise<void> {
  const preparation = await preparations[operation]?.(input, run.account);
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
  { writes, responses }: Run,
  work: (transaction: Transaction<Tables>) => Promise<T>,
  combinable?: Combinable<T>,
): Promise<T> {
  try {
    return await writes.run(work, combinable);
  } finally {
    responses.invalidate();
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
    publicUrl: run.publicUrl?.() ?? defaultPublicUrl,
    bottomLinesDelayMs: run.bottomLinesDelayMs,
    privateWebhooksFor: run.privateWebhooksFor,
    isSignUpClosed: run.isSignUpClosed,
    ...(account && { account }),
  };
}
