import { hourMs, minuteMs } from "../contract/time.ts";
import { findAccountsWithRetention, maxTrimmed, trimOldRecords } from "../engine/customers/retention.ts";
import type { EngineWork, HandlerContext } from "../engine/kernel/handler.ts";
import { findAccountsToPurge, maxDeletedPerPurge, purgeIdempotentCalls } from "../engine/kernel/idempotency.ts";
import { convertPhoto, findAccountsToConvert } from "../engine/reviews/photo-storage.ts";
import type { Job } from "./job.ts";

/** Cleans up accounts, one after another. */
interface Cleanup<Count extends string> {
  readonly name: string;
  /** What is counted. */
  readonly count: Count;
  /** Interval between searches for accounts. */
  readonly intervalMs: number;
  readonly findAccounts: typeof findAccountsToPurge;
  /** Cleans up some rows of one account. @returns their number */
  readonly clean: (accountId: number, work: EngineWork) => Promise<number>;
  /** If `clean` returns this number, rows may be left. */
  readonly full: number;
  /** Whether rows that are left wait for the next round, which follows immediately (default: they do not wait). */
  readonly takesTurns?: boolean;
}

function createCleanupJob<Count extends string>(
  { name, count, intervalMs, findAccounts, clean, full, takesTurns = false }: Cleanup<Count>,
  work: EngineWork,
  clock: () => number,
): Job<Count> {
  const repeatedFrom = takesTurns ? Infinity : full;
  let nextAtMs = 0;
  return {
    name,
    runDue: async (stop) => {
      let [total, isLeft] = [0, false];
      const errors: unknown[] = [];
      const cleanAccount = async (accountId: number) => {
        let rows: number;
        do {
          rows = await clean(accountId, work);
          total += rows;
        } while (rows >= repeatedFrom && !stop.aborted);
        isLeft ||= rows >= full;
      };
      for (let after: number | undefined = 0; after !== undefined && !stop.aborted;) {
        const from: number = after;
        const { found, last } = await work.read((context) => findAccounts(from, context));
        for (const accountId of found) await cleanAccount(accountId).catch((error: unknown) => errors.push(error));
        after = last;
      }
      // If an account cannot be written to, the others are still cleaned up.
      if (errors.length > 0) throw errors[0];
      nextAtMs = isLeft ? clock() : clock() + intervalMs;
      return { counts: { [count]: total } as Record<Count, number> };
    },
    // A later time than after the last round means that the clock was set back.
    nextDueAtMs: async () => (nextAtMs > clock() + intervalMs ? 0 : nextAtMs),
  };
}

const inTransaction =
  (clean: (context: HandlerContext) => Promise<number>): Cleanup<string>["clean"] =>
  (accountId, { write }) =>
    write(accountId, clean);

/**
 * Deletes expired idempotency keys. Calls delete some as well, so that keys also expire without a worker. Expired keys have
 * no effect, so they can stay for some time.
 */
export function createKeyPurgeJob(work: EngineWork, clock: () => number): Job<"deleted"> {
  const clean = inTransaction(purgeIdempotentCalls);
  const purge = { findAccounts: findAccountsToPurge, clean, full: maxDeletedPerPurge };
  const job = { name: "idempotency_keys", count: "deleted", intervalMs: 10 * minuteMs, ...purge } as const;
  return createCleanupJob(job, work, clock);
}

/** Enforces the retention settings of accounts, which are in days. In each round, every account gets one transaction. */
export function createRetentionJob(work: EngineWork, clock: () => number): Job<"trimmed"> {
  const clean = inTransaction(trimOldRecords);
  const trim = { findAccounts: findAccountsWithRetention, clean, full: maxTrimmed, takesTurns: true };
  return createCleanupJob({ name: "retention", count: "trimmed", intervalMs: hourMs, ...trim }, work, clock);
}

/** Converts photos that earlier versions stored as text, one after another. If it is interrupted, the next worker continues. */
export function createPhotoJob(work: EngineWork, clock: () => number): Job<"converted"> {
  const convert = { findAccounts: findAccountsToConvert, clean: convertPhoto, full: 1 };
  return createCleanupJob({ name: "photos", count: "converted", intervalMs: hourMs, ...convert }, work, clock);
}
