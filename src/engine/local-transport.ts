import type { EngineCapability, OutputOf, Transport } from "../service/transport.ts";
import { endpointOf } from "../contract/index.ts";
import type { Database } from "../storage/database.ts";
import type { PoolUse } from "../storage/dialect.ts";
import { AccountWrites } from "../storage/account-writes.ts";
import { findOperation } from "./handlers.ts";
import { type CallLimitOptions, CallLimits } from "./kernel/call-limits.ts";
import { carryOut, createSequence, type Engine, read, write } from "./kernel/call-path.ts";
import type { EngineWork, RandomBytes } from "./kernel/handler.ts";
import { ResponseCache } from "./kernel/response-cache.ts";
import { SavedProducts } from "./kernel/saved-products.ts";
import type { Sealer } from "./kernel/sealer.ts";
import { toServiceError } from "./kernel/storage-errors.ts";
import { checkClock } from "./kernel/times.ts";

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
  /** The space that the photos of an account may take up, in bytes (default: `photoLimits.bytesPerAccount`). */
  readonly photoStorageBytes?: number | undefined;
  /** Whether this transport serves a bulk operation alone, so that longer transactions delay nobody (default: false). */
  readonly isBulk?: boolean | undefined;
  /** Called when the data of a customer was erased, with the IDs of the emails that contained it. */
  readonly onErased?: ((mailIds: readonly number[]) => Promise<void>) | undefined;
  /** Called when the provider has reported that sent emails bounced, with their number. */
  readonly onBounced?: ((emails: number) => void) | undefined;
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

const capability: Required<EngineCapability> = {
  inputStage: true,
  inputText: true,
  clientAddress: true,
  hasVersion: true,
  page: true,
  outside: true,
};

/** Handles calls on the database. Closing the transport closes the database. */
export function createLocalTransport(options: LocalTransportOptions, limits = new CallLimits(options)): LocalTransport {
  const { database } = options;
  const engine = createEngine(options, limits);
  return {
    engine: capability,
    gate: {
      checkFailures: (clientAddress) => limits.checkFailures(clientAddress),
      countRefusal: (clientAddress) => limits.countRefusal(clientAddress),
      charge: (clientAddress, cpuMs) => limits.chargeCpu(clientAddress, cpuMs),
    },
    call: async (operation, input, caller, callOptions = {}) => {
      callOptions.signal?.throwIfAborted();
      try {
        const output = await carryOut({ name: operation, given: input, caller, options: callOptions }, engine);
        return output as OutputOf<typeof operation>;
      } catch (error) {
        await limits.countFailure(error, endpointOf(operation), callOptions.engine?.clientAddress);
        throw toServiceError(error, database.shownAs);
      }
    },
    work: createWork(engine, database),
    queuedWrites: () => engine.writes.length,
    poolUse: database.poolUse,
    onReplica: (replica) => createLocalTransport({ ...options, database: replica }, limits),
    readReplicaLag: async (replica) =>
      (await import("../storage/postgres/replica.ts")).readReplicaLag(replica, database),
    close: () => database.db.destroy(),
  };
}

function createEngine(options: LocalTransportOptions, limits: CallLimits): Engine {
  const { database, random, sealer, publicUrl, bottomLinesDelayMs, privateWebhooksFor, isSignUpClosed } = options;
  const clock = checkClock(options.clock);
  const hasPublicLimits = Object.keys(options.publicLimits ?? {}).length > 0;
  const savedProducts = new SavedProducts();
  const writes = new AccountWrites(database, {
    onLock: ({ accountId, version, waitedMs }) => {
      savedProducts.note(accountId, version);
      options.onLock?.(waitedMs);
    },
    onRollback: () => savedProducts.clear(),
    isBulk: options.isBulk,
  });
  const startCall = () => ({
    nowMs: clock(),
    database,
    dialect: database.dialect,
    random,
    sealer,
    savedProducts,
    publicUrl: publicUrl?.() ?? defaultPublicUrl,
    bottomLinesDelayMs,
    privateWebhooksFor: privateWebhooksFor?.(),
    isSignUpClosed,
    hasPublicLimits,
    photoStorageBytes: options.photoStorageBytes,
    onErased: options.onErased,
    onBounced: options.onBounced,
  });
  const readPageStyle: Engine["readPageStyle"] = async (reader, context) =>
    (await import("./accounts/page-style.ts")).readPageStyle(reader, context);
  const shared = { responses: new ResponseCache(), inSequence: createSequence(), repeats: new Map() } as const;
  return { limits, writes, ...shared, readPageStyle, findOperation, startCall };
}

function createWork({ startCall, writes }: Engine, { shownAs }: Database): EngineWork {
  const convertErrors = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw toServiceError(error, shownAs);
    }
  };
  return {
    read: (work) => convertErrors(() => read(startCall(), work)),
    write: (ownerId, work) => convertErrors(() => write({ ...startCall(), ownerId }, writes, work)),
  };
}
