import { setImmediate, setTimeout as wait } from "node:timers/promises";
import type { Transaction } from "kysely";
import { lockAccount } from "./account-lock.ts";
import { groupCalls, type Outcome, runGroup, type Waiting, type Work, type WriteOptions } from "./combined-writes.ts";
import type { Database } from "./database.ts";
import type { Tables } from "./tables.ts";

const maxCallsPerCommit = 128;

/** If fewer calls than this wait, and can be combined, the next transaction waits for the commit of the last one. */
const fewCalls = 8;

/** After this time in a transaction, the next waiting write gets its own, so that reads can run in between. */
const maxTransactionMs = 20;

/** The same for bulk writes: pages that many of them change are written once per transaction. */
const maxBulkTransactionMs = 100;

/** How often bulk writes give other processes time to take the lock of a file, and how long: they try every 5 ms. */
const bulkPause = { everyMs: 250, ms: 7 } as const;

/** A transaction of several writes. */
interface Batch {
  /** The writes that are not part of the transaction yet. */
  readonly groups: Waiting[][];
  readonly started: Waiting[];
  readonly outcomes: Outcome[];
  hasBegun: boolean;
  /** Whether several writes share it without savepoints: if one fails, all are run again. */
  isUnguarded: boolean;
  /** The end of the last transaction, which may still be committing. */
  readonly last: Promise<void>;
}

/** What the queue has done, for monitoring. */
interface WriteMonitor {
  /**
   * Called when a transaction has locked an account.
   * @param event.waitedMs the time between sending the start of the transaction and that
   */
  readonly onLock?: (event: {
    readonly accountId: number;
    readonly version: number;
    readonly waitedMs: number;
  }) => void;
  /** Called when changes are rolled back, before another write starts. */
  readonly onRollback?: () => void;
}

export interface WriteQueueOptions extends WriteMonitor {
  readonly onIdle?: () => void;
  /** Whether nothing reads between the writes of this process, so that longer transactions delay nobody (default: false). */
  readonly isBulk?: boolean | undefined;
  /** What each transaction waits for. */
  readonly turns?: Turns | undefined;
}

/**
 * Runs writes one after another, in call order. Writes that wait during a commit share the next commit, and with it the
 * wait for the disk. Each promise is settled after its commit. If a write fails, only its own changes are rolled back.
 */
export class WriteQueue {
  readonly #database: Pick<Database, "db" | "dialect">;
  readonly #options: WriteQueueOptions;
  #waiting: Waiting[] = [];
  #isRunning = false;
  /** Whether the last transaction took so long that the next write gets its own, without a savepoint. */
  #isSlow = false;
  /** Whether a bulk write has failed. Until then, those that share a transaction have no savepoints, which take time. */
  #hasFailed = false;
  #pausedMs = performance.now();
  #lastCommit: Promise<void> = Promise.resolve();
  #stopGathering: (() => void) | undefined;

  constructor(database: Pick<Database, "db" | "dialect">, options: WriteQueueOptions = {}) {
    this.#database = database;
    this.#options = options;
  }

  /** The number of writes that wait for a transaction. */
  get length(): number {
    return this.#waiting.length;
  }

  run<T>(work: Work<T>, { accountId, combinable }: WriteOptions<T> = {}): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ accountId, work, combinable, resolve: resolve as Waiting["resolve"], reject });
      if (!this.#canGather()) this.#stopGathering?.();
      void this.#drain();
    });
  }

  async #drain(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      let startCommit = () => {};
      const worked = new Promise<void>((resolve) => {
        startCommit = resolve;
      });
      const commit = this.#commit(startCommit);
      // On a server, the next transaction starts during the commit of the last one, and waits for its locks; after bulk
      // writes to a file, while the disk writes.
      if (this.#overlaps) await Promise.race([worked, commit]);
      if (!this.#overlaps || this.#isPauseDue()) await commit;
      if (this.#canGather()) await this.#gather(commit);
      // At most two transactions exist at a time.
      await this.#lastCommit;
      this.#lastCommit = commit;
      // Lets calls that arrived in the meantime enter the queue, so that they share the next commit.
      await (this.#isPauseDue() ? this.#pause() : setImmediate());
    }
    this.#isRunning = false;
    void this.#reportIdle();
  }

  /** Whether a transaction starts before the last one is on the disk. */
  get #overlaps(): boolean {
    return !this.#database.dialect.runsInOrder || this.#options.isBulk === true;
  }

  #isPauseDue(): boolean {
    const { isBulk = false } = this.#options;
    return isBulk && this.#database.dialect.runsInOrder && performance.now() - this.#pausedMs >= bulkPause.everyMs;
  }

  async #pause(): Promise<void> {
    await wait(bulkPause.ms);
    this.#pausedMs = performance.now();
  }

  #canGather(): boolean {
    return this.#waiting.length < fewCalls && this.#waiting.every(({ combinable }) => combinable);
  }

  /** Lets calls that arrive during a commit be combined with the few that wait, which costs less than overlapping. */
  async #gather(commit: Promise<void>): Promise<void> {
    const interrupted = new Promise<void>((resolve) => {
      this.#stopGathering = resolve;
    });
    await Promise.race([commit, interrupted]);
    this.#stopGathering = undefined;
  }

  /** Reports that the queue is empty, once no transaction can fail any more. */
  async #reportIdle(): Promise<void> {
    await this.#lastCommit;
    if (!this.#isRunning) this.#options.onIdle?.();
  }

  /** @param onWorked called when only the commit is left, and the calls that are not part of it wait again */
  async #commit(onWorked: () => void): Promise<void> {
    const { db } = this.#database;
    const endTurn = this.#options.turns && (await this.#options.turns.take());
    const batch: Batch = {
      groups: this.#overlaps ? [] : this.#takeGroups(),
      started: [],
      outcomes: [],
      hasBegun: false,
      isUnguarded: false,
      last: this.#lastCommit,
    };
    try {
      await db.transaction().execute(async (transaction) => {
        // Only now, because calls may have arrived while the transaction waited for its turn or a connection.
        if (this.#overlaps) batch.groups.push(...this.#takeGroups());
        await this.#work(batch, transaction);
        onWorked();
      });
    } catch (error) {
      this.#fail(error, batch);
      return;
    } finally {
      endTurn?.();
    }
    for (const [at, outcome] of batch.outcomes.entries()) {
      if ("value" in outcome) batch.started[at]?.resolve(outcome.value);
      else batch.started[at]?.reject(outcome.error);
    }
  }

  #takeGroups(): Waiting[][] {
    const groups = groupCalls(this.#waiting.splice(0, maxCallsPerCommit));
    if (this.#isSlow) this.#waiting.unshift(...groups.splice(1).flat());
    return groups;
  }

  async #work(batch: Batch, transaction: Transaction<Tables>): Promise<void> {
    const { groups, started, outcomes } = batch;
    batch.isUnguarded = groups.length > 1 && this.#options.isBulk === true && !this.#hasFailed;
    const isShared = groups.length > 1 && !batch.isUnguarded;
    const startedMs = performance.now();
    const maxMs = this.#options.isBulk === true ? maxBulkTransactionMs : maxTransactionMs;
    // If statements are pipelined, an error of the first one arrives later.
    batch.hasBegun = !this.#database.dialect.isPipelined;
    while (groups.length > 0 && (started.length === 0 || performance.now() - startedMs < maxMs)) {
      const group = groups.shift() ?? [];
      started.push(...group);
      await this.#lock(group, batch, transaction);
      outcomes.push(
        ...(await runGroup(group, transaction, { isShared, onRollback: () => this.#options.onRollback?.() })),
      );
      batch.hasBegun = true;
    }
    this.#isSlow = performance.now() - startedMs >= maxMs;
    this.#waiting.unshift(...groups.splice(0).flat());
  }

  /** Locks the account of some writes. If statements are pipelined, their first ones follow without a wait. */
  async #lock([first]: readonly Waiting[], batch: Batch, transaction: Transaction<Tables>): Promise<void> {
    const accountId = first?.accountId;
    if (accountId === undefined) return;
    const { dialect } = this.#database;
    const sentMs = performance.now();
    const after = dialect.isPipelined ? batch.last : undefined;
    const noted = lockAccount(accountId, { transaction, dialect, after }).then((version) => {
      batch.hasBegun = true;
      this.#options.onLock?.({ accountId, version, waitedMs: performance.now() - sentMs });
    });
    if (dialect.isPipelined) noted.catch(() => {});
    else await noted;
  }

  #fail(error: unknown, { groups, started, hasBegun, isUnguarded }: Batch): void {
    this.#options.onRollback?.();
    const isOwnFault = this.#database.dialect.explainError(error) === undefined;
    this.#hasFailed = true;
    if (hasBegun && isOwnFault && (isUnguarded || started.some(({ combinable }) => combinable))) {
      // One of the writes may be the cause, so each is run on its own. Nothing was committed.
      this.#waiting.unshift(...started.map((call) => ({ ...call, combinable: undefined })), ...groups.flat());
      void this.#drain();
      return;
    }
    // Without a transaction, none of them can be carried out: all that wait fail together, instead of one after another.
    if (started.length === 0 && groups.length === 0) groups.push(this.#waiting.splice(0, maxCallsPerCommit));
    const failed = hasBegun ? started : [...started, ...groups.splice(0).flat()];
    for (const { reject } of failed) reject(error);
    this.#waiting.unshift(...groups.splice(0).flat());
    this.#isSlow = false;
    void this.#drain();
  }
}

/** After this time, another can take the turn, so that what waits for a lock of another process does not stop the others. */
const maxTurnMs = 250;

/** Lets a few use something at a time, in the order in which they asked. */
export class Turns {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Waits for a turn, and returns a function that ends it. */
  async take(): Promise<() => void> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    let isOver = false;
    const end = () => {
      clearTimeout(timer);
      if (isOver) return;
      isOver = true;
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    };
    const timer = setTimeout(end, maxTurnMs).unref();
    return end;
  }
}
