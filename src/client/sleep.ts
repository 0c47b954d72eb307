import { setTimeout } from "node:timers/promises";

/**
 * Waits `ms` milliseconds.
 * @throws the signal's reason when it is aborted
 */
export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>;

/** The maximum delay of a timer; with a longer delay, it would fire immediately. */
const maxTimerMs = 2 ** 31 - 1;

export const sleep: Sleep = async (ms, signal) => {
  try {
    await setTimeout(Math.min(ms, maxTimerMs), undefined, signal && { signal });
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  }
};

/** Formats a duration, such as `0.4 s` or `12 s`. */
export function formatSeconds(ms: number): string {
  const seconds = ms / 1_000;
  return `${seconds < 10 ? Number(seconds.toFixed(1)) : Math.round(seconds)} s`;
}
