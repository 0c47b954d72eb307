import type { WorkerContext } from "./job.ts";

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
