import { hourMs } from "../contract/time.ts";
import { findAccountsWithRetention, maxTrimmed, trimOldRecords } from "../engine/customers/retention.ts";
import type { EngineWork } from "../engine/kernel/handler.ts";
import type { Job, Round } from "./job.ts";

/** Interval between searches for old records. Retention is counted in days. */
const intervalMs = hourMs;

/** Enforces the retention settings of accounts. In each round, every account gets one transaction. */
export function createRetentionJob({ read, write }: EngineWork, clock: () => number): Job<"trimmed"> {
  let nextAtMs = 0;
  return {
    name: "retention",
    runDue: async (stop): Promise<Round<"trimmed">> => {
      let [trimmed, isLeft] = [0, false];
      const errors: unknown[] = [];
      for (let after: number | undefined = 0; after !== undefined && !stop.aborted;) {
        const from: number = after;
        const { found, last } = await read((context) => findAccountsWithRetention(from, context));
        for (const accountId of found) {
          const rows = await write(accountId, trimOldRecords).catch((error: unknown) => {
            errors.push(error);
            return 0;
          });
          trimmed += rows;
          isLeft ||= rows >= maxTrimmed;
        }
        after = last;
      }
      // If an account cannot be written to, the others are still served.
      if (errors.length > 0) throw errors[0];
      nextAtMs = isLeft ? clock() : clock() + intervalMs;
      return { counts: { trimmed } };
    },
    // A later time than after the last round means that the clock was set back.
    nextDueAtMs: async () => (nextAtMs > clock() + intervalMs ? 0 : nextAtMs),
  };
}
