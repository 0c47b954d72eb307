import { type Job, type Round, sleepUntilAborted, type WorkerContext } from "./job.ts";

/** Interval between checks for due work. Assumed: a delay of a second is not noticeable, and an index lookup is cheap. */
const pollIntervalMs = 1_000;

/** Delays after failures, for example while the database is unavailable. */
const failureDelayMs = { first: 1_000, max: 60_000 } as const;

/** Runs jobs, each at its own pace, until `stop` is aborted. Returns once everything in flight is finished. */
export async function runWorker(jobs: readonly Job[], context: WorkerContext, stop: AbortSignal): Promise<void> {
  await Promise.all(jobs.map((job) => repeatJob(job, context, stop)));
}

/**
 * Does everything that is due, one job after another.
 * @returns the result of each job, by name
 */
export async function runWorkerOnce(jobs: readonly Job[], stop: AbortSignal): Promise<ReadonlyMap<string, Round>> {
  const rounds = new Map<string, Round>();
  for (const job of jobs) rounds.set(job.name, await job.runDue(stop));
  return rounds;
}

async function repeatJob(job: Job, { clock, sleep, log }: WorkerContext, stop: AbortSignal): Promise<void> {
  const backoff = new Backoff(failureDelayMs);
  while (!stop.aborted) {
    let delayMs = pollIntervalMs;
    try {
      const dueAtMs = await job.nextDueAtMs();
      if (dueAtMs !== undefined && dueAtMs <= clock()) await job.runDue(stop);
      if (!backoff.isFresh) log.info({ job: job.name }, "job recovered");
      backoff.reset();
    } catch (error) {
      const fields = { job: job.name, problem: (error as Error).message };
      if (backoff.isFresh) log.error(fields, "job failed; retrying");
      else log.debug(fields, "job still failing");
      delayMs = backoff.next();
    }
    await sleepUntilAborted(sleep, delayMs, stop);
  }
}

/** Delays that double each time, up to a maximum. */
export class Backoff {
  readonly #ms: { readonly first: number; readonly max: number };
  #nextMs: number;

  constructor(ms: { readonly first: number; readonly max: number }) {
    this.#ms = ms;
    this.#nextMs = ms.first;
  }

  /** Returns the next delay, in milliseconds. */
  next(): number {
    const ms = this.#nextMs;
    this.#nextMs = Math.min(ms * 2, this.#ms.max);
    return ms;
  }

  /** Whether no delay was taken since the start or the last `reset`. */
  get isFresh(): boolean {
    return this.#nextMs === this.#ms.first;
  }

  reset(): void {
    this.#nextMs = this.#ms.first;
  }
}
