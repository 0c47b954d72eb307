import type { Transaction } from "kysely";
import { type Endpoint, endpointOf, type OperationName, ServiceError } from "../contract/index.ts";
import { type CallEvent, NotModified, type OutputOf, type Transport } from "../service/transport.ts";
import type { Database } from "../storage/database.ts";
import type { PoolUse } from "../storage/dialect.ts";
import type { Tables } from "../storage/tables.ts";
import { AccountWrites } from "../storage/account-writes.ts";
import type { Combinable } from "../storage/combined-writes.ts";
import { accountFinders, checks, completions, preloads, preparations, transforms } from "./call-preparation.ts";
import { combineCalls, combineKeyedCalls } from "./combined-calls.ts";
import { findCombinedHandler, findHandler } from "./handlers.ts";
import { authenticate } from "./kernel/authenticate.ts";
import { type CallLimitOptions, CallLimits } from "./kernel/call-limits.ts";
import type { Account, EngineWork, HandlerContext, RandomBytes } from "./kernel/handler.ts";
import { hashCall, honoredKey, type KeyedCall, runOnce } from "./kernel/idempotency.ts";
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
  readonly privateWebhooksFor?: (() => string | undefined) | undefined;
  /** Whether only people with an invitation may create accounts (default: false). */
  readonly isSignUpClosed?: boolean | undefined;
  /** Whether this transport serves a bulk operation alone, so that longer transactions delay nobody (default: false). */
  readonly isBulk?: boolean | undefined;
  /** Called when the data of a customer was erased, with the IDs of the emails that contained it. */
  readonly onErased?: ((mailIds: readonly number[]) => Promise<void>) | undefined;
  /** Called when a write has locked its account, with the time that it waited for that, in milliseconds. */
  readonly onLock?: ((waitedMs: number) => void) | undefined;
}

/** The engine as a Transport, with database access for a worker, and figures for monitoring. */
export interface LocalTransport extends Transport {
  readonly work: EngineWork;
  /** The number of writes that wait for a transaction. */
  readonly queuedWrites: () => number;
  /** The connections to a database server; undefined for a file. */
  readonly poolUse: () => PoolUse | undefined;
  /** Handles reads on a replica of the database, under the same limits. Closing that transport closes the replica. */
  readonly onReplica: (replica: Database) => Transport;
  /** Measures how far a replica is behind, in milliseconds. @throws StorageError if it is not a replica of the database */
  readonly readReplicaLag: (replica: Database) => Promise<number>;
}

/** The default address of `starpost serve`. */
const defaultPublicUrl = "http://127.0.0.1:8080";

/**
 * Handles calls on the database: authenticate, validate, run the handler in one transaction.
 * Closing the transport closes the database.
 */
export function createLocalTransport(options: LocalTransportOptions, limits = new CallLimits(options)): LocalTransport {
  const { database } = options;
  const clock = checkClock(options.clock);
  const savedProducts = new SavedProducts();
  const writes = new AccountWrites(database, {
    onLock: ({ accountId, version, waitedMs }) => {
      savedProducts.note(accountId, version);
      options.onLock?.(waitedMs);
    },
    onRollback: () => savedProducts.clear(),
    isBulk: options.isBulk,
  });
  const shared = { writes, savedProducts, responses: new ResponseCache() };
  return {
    call: async (operation, input, caller, callOptions = {}) => {
      const { signal, onEvent, isChecked, idempotencyKey, keyNamesInput, clientAddress } = callOptions;
      const inputText = keyNamesInput === true ? idempotencyKey : callOptions.inputText;
      signal?.throwIfAborted();
      const endpoint = endpointOf(operation);
      const nowMs = clock();
      try {
        const account = await authenticate(database, endpoint, caller, nowMs);
        if (account) onEvent?.(describeCaller(account, endpoint));
        if (!endpoint.needsSecret) await limits.count({ endpoint, account, onEvent });
        const { hasVersion } = callOptions;
        const version = endpoint.caching?.byVersion === true ? account?.version : undefined;
        if (version !== undefined && hasVersion?.(version) === true) throw new NotModified();
        const key = honoredKey(endpoint, account, idempotencyKey);
        const run: Run = { ...options, ...shared, account, nowMs, isChecked, key, inputText, onEvent };
        const valid = isChecked === true ? input : validateInput(endpoint, input);
        const ownerId = await findOwner(operation, valid, run);
        run.ownerId = ownerId;
        await checkCall(operation, valid, run);
        if (endpoint.needsSecret) await limits.count({ endpoint, account, onEvent });
        const reader = <T>(work: (context: HandlerContext) => Promise<T>) =>
          read(run, (transaction) => work(createContext(transaction, run)));
        const { isSignUpClosed } = options;
        const called = {
          operation,
          endpoint,
          input: valid,
          account,
          ownerId,
          clientAddress,
          isSignUpClosed,
          read: reader,
        };
        await limitPublicCall(called, limits);
        const prepared = (await transforms[operation]?.(valid, run)) ?? valid;
        const stored = await runHandler(operation, endpoint, prepared, run);
        const output = (await completions[operation]?.(stored, prepared, run)) ?? stored;
        return output as OutputOf<typeof operation>;
      } catch (error) {
        await limits.countFailure(error, endpoint, clientAddress);
        throw toServiceError(error, database.shownAs);
      }
    },
    work: createWork({ ...options, ...shared }, clock),
    queuedWrites: () => writes.length,
    poolUse: database.poolUse,
    onReplica: (replica) => createLocalTransport({ ...options, database: replica }, limits),
    readReplicaLag: async (replica) => (await import("../storage/replica.ts")).readReplicaLag(replica, database),
    close: () => database.db.destroy(),
  };
}

/** Operations for which the token is optional state whether it is valid; all others but public ones require it. */
function describeCaller({ appKey, isStore }: Account, { auth }: Endpoint): CallEvent {
  return { type: "account", appKey, hasToken: isStore ?? auth !== "account" };
}

function createWork(shared: Omit<Run, "account" | "nowMs">, clock: () => number): EngineWork {
  const start = (ownerId?: number): Run => ({ ...shared, account: undefined, ownerId, nowMs: clock() });
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
    write: async (accountId, work) => {
      const run = start(accountId);
      return convertErrors(write(run, (transaction) => work(createContext(transaction, run))));
    },
  };
}

interface Run extends LocalTransportOptions {
  readonly writes: AccountWrites;
  readonly savedProducts: SavedProducts;
  readonly responses: ResponseCache;
  readonly isChecked?: boolean | undefined;
  /** The idempotency key, if the call honors it. */
  readonly key?: string | undefined;
  readonly inputText?: string | undefined;
  readonly onEvent?: ((event: CallEvent) => void) | undefined;
  readonly account: Account | undefined;
  /** The account that a call without an app key concerns. */
  ownerId?: number | undefined;
  readonly nowMs: number;
}

async function runHandler(operation: OperationName, endpoint: Endpoint, input: unknown, run: Run): Promise<unknown> {
  const handler = await findHandler(operation);
  const { responses } = run;
  const handle = (transaction: Transaction<Tables>) => handler(input, createContext(transaction, run));
  await prepare(operation, input, run);
  if (endpoint.effect === "read") {
    return responses.read({ operation, account: run.account, input }, () => read(run, handle));
  }
  const combined = await findCombinedHandler(operation);
  const combinedHandler = combined?.accepts(input, run.account) ? combined : undefined;
  const { account, isChecked, key, inputText, onEvent } = run;
  const contextOf = (transaction: Transaction<Tables>) => createContext(transaction, run);
  const caller = { operation, account, isChecked, contextOf };
  if (key === undefined) {
    const output = await write(run, handle, combinedHandler && combineCalls(input, caller, combinedHandler));
    // Of several calls that were combined, each can be rejected on its own.
    if (output instanceof ServiceError) throw output;
    return output;
  }
  const call: KeyedCall = { endpoint, key, input, inputText };
  hashCall(call);
  const preload = preloads[operation];
  const handleOnce = (transaction: Transaction<Tables>) => {
    const context = contextOf(transaction);
    return runOnce(call, context, () => handler(input, context), preload && (() => preload(input, context)));
  };
  const combinable = combinedHandler && combineKeyedCalls(call, caller, combinedHandler);
  const { output, isReplay } = await write(run, handleOnce, combinable);
  onEvent?.({ type: "idempotency", isReplay });
  return output;
}

/** Finds the account that a call without an app key concerns, and rejects the call if that is disabled. */
async function findOwner(operation: OperationName, input: unknown, run: Run): Promise<number | undefined> {
  const finder = accountFinders[operation];
  if (!finder) return undefined;
  const { findActiveOwner } = await import("./accounts/active-account.ts");
  const fields = input as Readonly<Record<string, string | number>>;
  return read(run, (transaction) => findActiveOwner(finder, fields, { transaction, sealer: run.sealer }));
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

function write<T>(
  { writes, account, ownerId }: Run,
  work: (transaction: Transaction<Tables>) => Promise<T>,
  combinable?: Combinable<T>,
): Promise<T> {
  return writes.run(work, { accountId: account?.id ?? ownerId, combinable });
}

function createContext(transaction: Transaction<Tables>, run: Run): HandlerContext {
  const { database, savedProducts, account, ownerId, nowMs, random, sealer, isChecked } = run;
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
    privateWebhooksFor: run.privateWebhooksFor?.(),
    isSignUpClosed: run.isSignUpClosed,
    ...(account && { account }),
    ...(ownerId !== undefined && { ownerId }),
  };
}
