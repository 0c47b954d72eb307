import { ServiceError } from "../../contract/index.ts";
import { dayMs, isClockTime } from "../../contract/time.ts";

/** Formats a timestamp for the wire: ISO 8601, UTC. */
export const iso = (ms: number): string => new Date(ms).toISOString();

/** Days since the epoch, UTC. */
export const dayOf = (ms: number): number => Math.floor(ms / dayMs);

/** Formats a number of days since the epoch as YYYY-MM-DD. */
export const dateOf = (day: number): string => iso(day * dayMs).slice(0, 10);

/**
 * Wraps a clock so that it throws instead of returning an impossible time, which no call could store.
 * @throws ServiceError `unavailable`
 */
export function checkClock(clock: () => number): () => number {
  return () => {
    const nowMs = clock();
    if (isClockTime(nowMs)) return nowMs;
    throw new ServiceError("unavailable", "the system clock of the service shows an impossible time", {
      hint: "set the clock of the machine that runs the service",
    });
  };
}
