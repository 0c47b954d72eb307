import type { Logger } from "pino";

/**
 * Waits `ms` milliseconds.
 * @throws the signal's reason if it is aborted
 */
export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>;

/** Writes one line per event, with an object that identifies its subject. */
export type WorkerLog = Pick<Logger, "debug" | "info" | "warn" | "error">;

export interface WorkerContext {
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly sleep: Sleep;
  readonly log: WorkerLog;
}

/** Waits until the time has passed or `stop` is aborted. */
export async function sleepUntilAborted(sleep: Sleep, ms: number, stop: AbortSignal): Promise<void> {
  try {
    await sleep(ms, stop);
  } catch (error) {
    if (!stop.aborted) throw error;
  }
}
