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

/** Formats a duration, such as `0.4 s`, `12 s`, `3 min 05 s`, or `1 h 00 min`. */
export function formatWait(ms: number): string {
  const seconds = ms / 1_000;
  if (seconds < 60) return `${seconds < 10 ? Number(seconds.toFixed(1)) : Math.round(seconds)} s`;
  const [rounded, pad] = [Math.round(seconds), (value: number) => String(Math.floor(value)).padStart(2, "0")];
  if (rounded < 3_600) return `${Math.floor(rounded / 60)} min ${pad(rounded % 60)} s`;
  return `${Math.floor(rounded / 3_600)} h ${pad((rounded % 3_600) / 60)} min`;
}
