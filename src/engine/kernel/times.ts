import { dayMs } from "../../contract/time.ts";

/** A time as the wire has it: ISO 8601, UTC. */
export const iso = (ms: number): string => new Date(ms).toISOString();

/** Days since the epoch, UTC. */
export const dayOf = (ms: number): number => Math.floor(ms / dayMs);

/** A day since the epoch as YYYY-MM-DD. */
export const dateOf = (day: number): string => iso(day * dayMs).slice(0, 10);
