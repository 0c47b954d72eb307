import { sleep } from "../../src/client/sleep.ts";
import type { CleanupSettings } from "../../src/worker/cleanup-jobs.ts";
import type { Harness } from "./backends.ts";
import { silentLog } from "./silent-log.ts";

/** The settings of a job that cleans up the accounts of a test without pauses. */
export function cleanupSettings({ work, clock }: Harness, worker = "one"): CleanupSettings {
  return { work, clock, worker, leaseMs: 60_000, pauseMs: 0, sleep, log: silentLog };
}
