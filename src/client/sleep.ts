/**
 * Waits `ms` milliseconds.
 * @throws the signal's reason when it is aborted
 */
export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>;

/** Longest single wait that a timer can be given; a longer one would fire at once. */
const longestTimerMs = 2 ** 31 - 1;

export const sleep: Sleep = (ms, signal) =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason as Error);
      return;
    }
    const end = () => {
      signal?.removeEventListener("abort", abort);
      resolve();
    };
    const timer = setTimeout(end, Math.min(ms, longestTimerMs));
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    signal?.addEventListener("abort", abort, { once: true });
  });

/** A duration for a person, `0.4 s` or `12 s`. */
export function showSeconds(ms: number): string {
  const seconds = ms / 1_000;
  return `${seconds < 10 ? Number(seconds.toFixed(1)) : Math.round(seconds)} s`;
}
