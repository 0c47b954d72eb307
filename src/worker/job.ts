import type { Logger } from "pino";

export type Counts<Outcome extends string = string> = Readonly<Record<Outcome, number>>;

export interface Round<Outcome extends string = string> {
  /** Counts of all outcomes, including those that did not occur. */
  readonly counts: Counts<Outcome>;
  /** Why the remaining work has to wait, for example because the mail server cannot be reached. */
  readonly problem?: string | undefined;
  /** The number of items that may not be sent yet. */
  readonly held?: number | undefined;
}

/** A kind of work that a worker does in rounds, independently of other jobs. */
export interface Job<Outcome extends string = string> {
  /** What the job processes, in the plural, for logs and summaries: `emails`. */
  readonly name: string;
  /**
   * Does everything that is due. Once `stop` is aborted, finishes what is in flight, releases its leases, and returns.
   * A failure of one item is an outcome.
   * @throws if no work is possible, for example because the database is unavailable
   */
  runDue(stop: AbortSignal): Promise<Round<Outcome>>;
  /** Finds when the next item is due, in milliseconds; undefined if nothing is pending. Cheap enough to poll. */
  nextDueAtMs(): Promise<number | undefined>;
  /** Called after the last round. */
  close?(): Promise<void>;
}

/**
 * Waits `ms` milliseconds.
 * @throws the signal's reason if it is aborted
 */
type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>;

/** Writes one line per event, with an object that identifies its subject. */
export type WorkerLog = Pick<Logger, "debug" | "info" | "warn" | "error">;

export interface WorkerContext {
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly sleep: Sleep;
  readonly log: WorkerLog;
  /** Called when something was handled, with the name of the job. */
  readonly onResult?: OnResult | undefined;
}

export type OnResult = (job: string, result: string, count: number) => void;

/** Waits until the time has passed or `stop` is aborted. */
export async function sleepUntilAborted(sleep: Sleep, ms: number, stop: AbortSignal): Promise<void> {
  try {
    await sleep(ms, stop);
  } catch (error) {
    if (!stop.aborted) throw error;
  }
}

/** Leases are renewed several times before they expire, so that a failed renewal does no harm. */
const renewalsPerLease = 3;

interface LeaseSettings extends Pick<WorkerContext, "sleep" | "log"> {
  readonly leaseMs: number;
  readonly renew: () => Promise<void>;
}

/** Runs `work` and renews the worker's leases until it ends. */
export async function withLeaseRenewal<T>(
  work: () => Promise<T>,
  { leaseMs, renew, sleep, log }: LeaseSettings,
): Promise<T> {
  const ended = new AbortController();
  const renewals = (async () => {
    for (;;) {
      await sleep(leaseMs / renewalsPerLease, ended.signal);
      await renew().catch((error: unknown) => {
        log.warn({ problem: (error as Error).message }, "could not renew leases");
      });
    }
  })();
  try {
    return await work();
  } finally {
    ended.abort();
    await renewals.catch((error: unknown) => {
      if (error !== ended.signal.reason) throw error;
    });
  }
}
