import type { EngineWork } from "../engine/kernel/handler.ts";
import { findNextExpiry, purgeIdempotentCalls } from "../engine/kernel/idempotency.ts";
import type { Job, Round } from "./job.ts";

/** Deletes expired idempotency keys. Calls delete some as well, so that keys also expire without a worker. */
export function createKeyPurgeJob(
  work: EngineWork,
  clock: () => number,
): Job<"deleted"> & { runDue(): Promise<Round<"deleted">> } {
  const nextDueAtMs = () => work.read(findNextExpiry);
  return {
    name: "idempotency_keys",
    runDue: async () => {
      const dueAtMs = await nextDueAtMs();
      const isDue = dueAtMs !== undefined && dueAtMs <= clock();
      return { counts: { deleted: isDue ? await work.write(purgeIdempotentCalls) : 0 } };
    },
    nextDueAtMs,
  };
}
