import { dayMs, hourMs } from "../time.ts";

/**
 * How long until a change counts in the bottom lines of all products. Source: spec "Limits".
 * Assumed: accounts can change the delay, up to a day.
 */
export const bottomLinesDelay = { defaultMs: hourMs, maxMs: dayMs } as const;
