import { minuteMs } from "../contract/time.ts";
import type { EngineWork } from "../engine/kernel/handler.ts";
import { findAccountsToPurge, maxDeletedPerPurge, purgeIdempotentCalls } from "../engine/kernel/idempotency.ts";
import type { Job, Round } from "./job.ts";

/** Interval between searches for expired keys. Expired keys have no effect, so they can stay for some time. */
const intervalMs = 10 * minuteMs;

/**
 * Deletes expired idempotency keys, account by account. Calls delete some as well, so that keys also expire without a
 * worker.
 */
export function createKeyPurgeJob({ read, write }: EngineWork, clock: () => number): Job<"deleted"> {
  let nextAtMs = 0;

  return {
    name: "idempotency_keys",
    runDue: async (stop): Promise<Round<"deleted">> => {
      let deleted = 0;
      const errors: unknown[] = [];
      const purge = async (accountId: number) => {
        let rows: number;
        do {
          rows = await write(accountId, purgeIdempotentCalls);
          deleted += rows;
        } while (rows === maxDeletedPerPurge);
      };
      for (let after: number | undefined = 0; after !== undefined && !stop.aborted;) {
        const from: number = after;
        const { found, last } = await read((context) => findAccountsToPurge(from, context));
        for (const accountId of found) await purge(accountId).catch((error: unknown) => errors.push(error));
        after = last;
      }
      // If an account cannot be written to, the others are still purged.
      if (errors.length > 0) throw errors[0];
      nextAtMs = clock() + intervalMs;
      return { counts: { deleted } };
    },
    // A later time than after the last round means that the clock was set back.
    nextDueAtMs: async () => (nextAtMs > clock() + intervalMs ? 0 : nextAtMs),
  };
}
