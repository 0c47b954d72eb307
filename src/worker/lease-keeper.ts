import type { WorkerContext } from "./worker-context.ts";

/** Leases are renewed three times in their length, so that two lost tries do no harm. */
const renewalsInLease = 3;

interface Leased extends Pick<WorkerContext, "sleep" | "log"> {
  readonly leaseMs: number;
  readonly renew: () => Promise<void>;
}

/** Does some work, and renews what is held meanwhile, however slow the work is. */
export async function withLeaseRenewal<T>(
  work: () => Promise<T>,
  { leaseMs, renew, sleep, log }: Leased,
): Promise<T> {
  const ended = new AbortController();
  const renewals = (async () => {
    for (;;) {
      await sleep(leaseMs / renewalsInLease, ended.signal);
      await renew().catch((error: unknown) => {
        log.warn({ problem: (error as Error).message }, "leases could not be renewed");
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
