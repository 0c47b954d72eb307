import { Backoff } from "./backoff.ts";
import type { Job, Round } from "./job.ts";
import { rest, type WorkerContext } from "./worker-context.ts";

/**
 * Between two looks for what is due. Assumed: whoever waits for a mail or an event does not notice a second, and two
 * looks into an index cost nothing.
 */
const lookEveryMs = 1_000;

/** After a look that failed, as where the database is gone. */
const afterFailureMs = { first: 1_000, longest: 60_000 } as const;

/** Does its duties, each at its own pace, until `stop` is aborted, and ends once what is in flight is finished. */
export async function runWorker(
  duties: readonly Job[],
  surroundings: WorkerContext,
  stop: AbortSignal,
): Promise<void> {
  await Promise.all(duties.map((duty) => repeat(duty, surroundings, stop)));
}

/**
 * Does all that is due now, one duty after another.
 * @returns what each came to, by its name
 */
export async function runWorkerOnce(
  duties: readonly Job[],
  stop: AbortSignal,
): Promise<ReadonlyMap<string, Round>> {
  const rounds = new Map<string, Round>();
  for (const duty of duties) rounds.set(duty.name, await duty.runDue(stop));
  return rounds;
}

async function repeat(duty: Job, { clock, sleep, log }: WorkerContext, stop: AbortSignal): Promise<void> {
  const backoff = new Backoff(afterFailureMs.first, afterFailureMs.longest);
  while (!stop.aborted) {
    let waitMs = lookEveryMs;
    try {
      const dueAtMs = await duty.nextDueAtMs();
      if (dueAtMs !== undefined && dueAtMs <= clock()) await duty.runDue(stop);
      if (!backoff.isFresh) log.info({ duty: duty.name }, "at work again");
      backoff.reset();
    } catch (error) {
      const said = { duty: duty.name, problem: (error as Error).message };
      if (backoff.isFresh) log.error(said, "cannot work; tries again by itself");
      else log.debug(said, "still cannot work");
      waitMs = backoff.next();
    }
    await rest(sleep, waitMs, stop);
  }
}
