import type { Logger } from "pino";

/**
 * Waits `ms` milliseconds.
 * @throws the signal's reason when it is aborted
 */
export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>;

/** A line an event, with an object of what it is about. */
export type WorkLog = Pick<Logger, "debug" | "info" | "warn" | "error">;

/** What a worker is given of the world. */
export interface WorkerContext {
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly sleep: Sleep;
  readonly log: WorkLog;
}

/** Waits, but no longer than until `stop` is aborted. */
export async function rest(sleep: Sleep, ms: number, stop: AbortSignal): Promise<void> {
  try {
    await sleep(ms, stop);
  } catch (error) {
    if (!stop.aborted) throw error;
  }
}
