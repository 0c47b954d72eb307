import { dayMs } from "../../contract/time.ts";

/** Formats a timestamp for the wire: ISO 8601, UTC. */
export const iso = (ms: number): string => new Date(ms).toISOString();

/** Days since the epoch, UTC. */
export const dayOf = (ms: number): number => Math.floor(ms / dayMs);

/** Formats a number of days since the epoch as YYYY-MM-DD. */
export const dateOf = (day: number): string => iso(day * dayMs).slice(0, 10);
