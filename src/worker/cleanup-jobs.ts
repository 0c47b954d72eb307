import { hourMs, minuteMs } from "../contract/time.ts";
import type { AccountWalk } from "../engine/kernel/account-walk.ts";
import { findMissedAccounts } from "../engine/kernel/due-accounts.ts";
import { noteDue, type Queue } from "../engine/kernel/due-times.ts";
import { ElectedWork } from "../engine/kernel/elected-work.ts";
import { findAccountsWithRetention, maxTrimmed, trimOldRecords } from "../engine/customers/retention.ts";
import { accountIdOf, type EngineWork, type HandlerContext } from "../engine/kernel/handler.ts";
import { findAccountsToPurge, maxDeletedPerPurge, purgeIdempotentCalls } from "../engine/kernel/idempotency.ts";
import { findAccountsToIndex, indexNextBlock } from "../engine/kernel/lists/part-index.ts";
import { convertPhoto, findAccountsToConvert } from "../engine/reviews/photo-storage.ts";
import { type Job, sleepUntilAborted, withLeaseRenewal, type WorkerContext } from "./job.ts";

/** Cleans up accounts, one after another. */
interface Cleanup<Count extends string> {
  readonly name: string;
  /** What is counted. */
  readonly count: Count;
  /** Interval between searches for accounts. */
  readonly intervalMs: number;
  readonly findAccounts: AccountWalk;
  /** Cleans up some rows of one account. @returns their number */
  readonly clean: (accountId: number, work: EngineWork) => Promise<number>;
  /** If `clean` returns this number, rows may be left. */
  readonly full: number;
  /** Whether rows that are left wait for the next round, which follows immediately (default: they do not wait). */
  readonly takesTurns?: boolean;
}

export interface CleanupSettings extends WorkerContext {
  readonly work: EngineWork;
  /** Unique among all processes, including past ones. */
  readonly worker: string;
  readonly leaseMs: number;
  /** Pause between searches for accounts within a round, so that an idle server with many accounts stays idle. */
  readonly pauseMs: number;
}

/** How often a process checks whether it can take over the work of another one, unless leases are shorter. */
const maxCheckIntervalMs = 10_000;

/** Only one process at a time does the work. It stores its progress, so that another one can continue. */
function createCleanupJob<Count extends string>(cleanup: Cleanup<Count>, settings: CleanupSettings): Job<Count> {
  const { name, count, intervalMs } = cleanup;
  const { clock, work, worker, leaseMs } = settings;
  const checkIntervalMs = Math.min(maxCheckIntervalMs, leaseMs);
  const elected = new ElectedWork({ name, worker, leaseMs }, work);
  let [nextAtMs, checkedAtMs] = [0, Number.NaN];
  return {
    name,
    runDue: async (stop) => {
      checkedAtMs = Number.NaN;
      const from = await elected.take();
      const round = new CleanupRound(cleanup, settings, from);
      if (from !== undefined) {
        const renew = async () => void (await elected.keep(round.walkedTo));
        await withLeaseRenewal(() => round.run(elected, stop), { ...settings, renew });
      }
      return { counts: { [count]: round.total } as Record<Count, number> };
    },
    nextDueAtMs: async () => {
      const nowMs = clock();
      const isKnown = nowMs < nextAtMs && nowMs >= checkedAtMs && nowMs < checkedAtMs + checkIntervalMs;
      if (!isKnown) {
        const waitMs = await elected.findWaitMs();
        // A longer wait means that the clock was set back.
        nextAtMs = waitMs > Math.max(intervalMs, leaseMs) ? 0 : nowMs + waitMs;
        checkedAtMs = nowMs;
      }
      return nextAtMs;
    },
  };
}

class CleanupRound {
  readonly #cleanup: Cleanup<string>;
  readonly #settings: CleanupSettings;
  readonly #errors: unknown[] = [];
  #isLeft = false;
  total = 0;
  /** The last account of the previous search. */
  walkedTo: number;

  constructor(cleanup: Cleanup<string>, settings: CleanupSettings, walkedTo = 0) {
    this.#cleanup = cleanup;
    this.#settings = settings;
    this.walkedTo = walkedTo;
  }

  /** @throws the first error; if an account cannot be written to, the others are still cleaned up */
  async run(elected: ElectedWork, stop: AbortSignal): Promise<void> {
    const { sleep, work, pauseMs } = this.#settings;
    const { findAccounts, intervalMs } = this.#cleanup;
    while (!stop.aborted) {
      const { found, last } = await work.read((context) => findAccounts(this.walkedTo, context));
      for (const accountId of found) await this.#cleanAccount(accountId, stop);
      if (stop.aborted) break;
      this.walkedTo = last ?? 0;
      if (last === undefined) break;
      if (!(await elected.keep(this.walkedTo))) return;
      await sleepUntilAborted(sleep, pauseMs, stop);
    }
    const isDone = !this.#isLeft && this.#errors.length === 0 && !stop.aborted;
    await elected.release(this.walkedTo, isDone ? intervalMs : 0);
    if (this.#errors.length > 0) throw this.#errors[0];
  }

  async #cleanAccount(accountId: number, stop: AbortSignal): Promise<void> {
    const { clean, full, takesTurns = false } = this.#cleanup;
    const repeatedFrom = takesTurns ? Infinity : full;
    let rows = 0;
    try {
      do {
        rows = await clean(accountId, this.#settings.work);
        this.total += rows;
      } while (rows >= repeatedFrom && !stop.aborted);
    } catch (error) {
      this.#errors.push(error);
    }
    this.#isLeft ||= rows >= full;
  }
}

const inTransaction =
  (clean: (context: HandlerContext) => Promise<number>): Cleanup<string>["clean"] =>
  (accountId, { write }) =>
    write(accountId, clean);

/**
 * Deletes expired idempotency keys. Calls delete some as well, so that keys also expire without a worker. Expired keys have
 * no effect, so they can stay for some time.
 */
export function createKeyPurgeJob(settings: CleanupSettings): Job<"deleted"> {
  const clean = inTransaction(purgeIdempotentCalls);
  const purge = { findAccounts: findAccountsToPurge, clean, full: maxDeletedPerPurge };
  const job = { name: "idempotency_keys", count: "deleted", intervalMs: 10 * minuteMs, ...purge } as const;
  return createCleanupJob(job, settings);
}

/** Enforces the retention settings of accounts, which are in days. In each round, every account gets one transaction. */
export function createRetentionJob(settings: CleanupSettings): Job<"trimmed"> {
  const clean = inTransaction(trimOldRecords);
  const trim = { findAccounts: findAccountsWithRetention, clean, full: maxTrimmed, takesTurns: true };
  return createCleanupJob({ name: "retention", count: "trimmed", intervalMs: hourMs, ...trim }, settings);
}

/** Converts photos that earlier versions stored as text, one after another. If it is interrupted, the next worker continues. */
export function createPhotoJob(settings: CleanupSettings): Job<"converted"> {
  const convert = { findAccounts: findAccountsToConvert, clean: convertPhoto, full: 1 };
  return createCleanupJob({ name: "photos", count: "converted", intervalMs: hourMs, ...convert }, settings);
}

/** Indexes records for the search for parts of texts, a block at a time. Searches index what is left, but take longer then. */
export function createSearchIndexJob(settings: CleanupSettings): Job<"indexed"> {
  const index = { findAccounts: findAccountsToIndex, clean: indexNextBlock, full: 1 };
  return createCleanupJob({ name: "search_index", count: "indexed", intervalMs: 10 * minuteMs, ...index }, settings);
}

/** Corrects the times at which workers look at accounts, if they are too late. */
function createDueCheckJob(queue: Queue, settings: CleanupSettings): Job<"corrected"> {
  const correct = async (context: HandlerContext) => {
    await noteDue(queue, accountIdOf(context), context);
    return 1;
  };
  const check = { findAccounts: findMissedAccounts[queue], clean: inTransaction(correct), full: 2 };
  return createCleanupJob({ name: queue, count: "corrected", intervalMs: hourMs, ...check }, settings);
}

/** Creates the jobs that clean up all accounts. */
export function createCleanupJobs(settings: CleanupSettings): readonly Job[] {
  return [
    createKeyPurgeJob(settings),
    createRetentionJob(settings),
    createPhotoJob(settings),
    createSearchIndexJob(settings),
    createDueCheckJob("emails_due_at", settings),
    createDueCheckJob("deliveries_due_at", settings),
  ];
}
