import { setTimeout as wait } from "node:timers/promises";
import { endpointOf, ServiceError } from "../contract/index.ts";
import type { Transport } from "../service/transport.ts";
import type { WorkerLog } from "../worker/job.ts";
import { limitTime } from "./monitoring.ts";

/** An open replica of the database. */
export interface Replica {
  readonly transport: Transport;
  /** Measures how far the replica is behind its primary, in milliseconds. @throws if it cannot be used */
  readonly readLagMs: () => Promise<number>;
}

export interface ReplicaOptions {
  readonly open: () => Promise<Replica>;
  readonly log: WorkerLog;
  /** The name of the replica in the log. */
  readonly shownAs: string;
  /** The replica is not used while it is further behind, in milliseconds. */
  readonly maxLagMs: number;
  /** The interval of checks, in milliseconds. */
  readonly checkEachMs: number;
}

/** How long a check waits for the replica, in milliseconds. */
const checkWithinMs = 2_000;

/** Errors of the database, rather than of the call. */
const databaseErrors: ReadonlySet<string> = new Set(["unavailable", "timeout", "storageFailed"]);

/**
 * Sends the reads that caches may store, and which therefore tolerate a lag, to a replica while it is usable, and all other
 * calls to the primary. A call that the replica fails to answer is repeated on the primary.
 */
export class ReplicaReads implements Transport {
  readonly #primary: Transport;
  readonly #options: ReplicaOptions;
  readonly #stop = new AbortController();
  readonly #checks: Promise<void>;
  #replica: Replica | undefined;
  /** Whether the log states whether the replica is used. */
  #isReported = false;
  /** Why the replica is not used; null while it is. */
  #problem: string | null = "not checked yet";

  get engine(): Transport["engine"] {
    return this.#primary.engine;
  }

  get gate(): Transport["gate"] {
    return this.#primary.gate;
  }

  constructor(primary: Transport, options: ReplicaOptions) {
    this.#primary = primary;
    this.#options = options;
    this.#checks = this.#check();
  }

  get isUsed(): boolean {
    return this.#problem === null;
  }

  call: Transport["call"] = async (operation, input, caller, options) => {
    const replica = this.#problem === null && endpointOf(operation).caching ? this.#replica : undefined;
    if (!replica) return this.#primary.call(operation, input, caller, options);
    try {
      return await replica.transport.call(operation, input, caller, options);
    } catch (error) {
      if (!(error instanceof ServiceError) || !databaseErrors.has(error.kind)) throw error;
      this.#note(error.message);
      return this.#primary.call(operation, input, caller, options);
    }
  };

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#checks;
    await this.#replica?.transport.close();
    await this.#primary.close();
  }

  async #check(): Promise<void> {
    const { open, maxLagMs, checkEachMs } = this.#options;
    const { signal } = this.#stop;
    const readLagMs = limitTime(async () => (this.#replica ??= await open()).readLagMs(), checkWithinMs);
    while (!signal.aborted) {
      try {
        const lagMs = await readLagMs();
        this.#note(lagMs <= maxLagMs ? null : `it is ${(lagMs / 1_000).toFixed(1)} s behind`);
      } catch (error) {
        this.#note((error as Error).message);
      }
      await wait(checkEachMs, undefined, { ref: false, signal }).catch(() => {});
    }
  }

  #note(problem: string | null): void {
    const wasUsed = this.isUsed;
    this.#problem = problem;
    const { log, shownAs: replica } = this.#options;
    if (problem === null && !wasUsed) log.info({ replica }, "reading from the replica");
    // At the start, it was not used either.
    const isNew = wasUsed || !this.#isReported;
    if (problem !== null && isNew) log.warn({ replica, why: problem }, "not reading from the replica");
    this.#isReported = true;
  }
}
