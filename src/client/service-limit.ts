import type { IncomingHttpHeaders } from "node:http";
import { parseRetryAfter } from "../contract/time.ts";

/** The service's rate limit, as stated in a response. */
export interface ServiceLimit {
  /** Remaining requests in the window. */
  readonly remaining: number;
  /** When the window ends, as Unix time in seconds. */
  readonly resetAtSeconds: number;
  /** When the window ends, in milliseconds from now. */
  readonly resetInMs: number;
}

/** If the clocks differ by more than this, the response's `Date` is used. Its resolution is one second. */
const trustedSkewMs = 2_000;

/** A window is shorter. Assumed: a response that states a longer one is a mistake. */
const maxWindowMs = 60_000;

/** How long a call waits because the service asks for it (`Retry-After`): each time, and in total. Longer waits end it. */
export const serviceWaits = { eachMs: 5 * 60_000, totalMs: 7 * 60_000 } as const;

/** Reads `RateLimit-Remaining` and `RateLimit-Reset`. Source: spec "Limits". */
export function readServiceLimit(headers: IncomingHttpHeaders, nowMs: number): ServiceLimit | undefined {
  const remaining = readWhole(headers["ratelimit-remaining"]);
  const resetAtSeconds = readWhole(headers["ratelimit-reset"]);
  if (remaining === undefined || resetAtSeconds === undefined) return undefined;
  const resetInMs = Math.min(maxWindowMs, Math.max(0, resetAtSeconds * 1_000 - referenceMs(headers, nowMs)));
  return { remaining, resetAtSeconds, resetInMs };
}

/** Reads `Retry-After`, in milliseconds from now. */
export function readRetryAfterMs(headers: IncomingHttpHeaders, nowMs: number): number | undefined {
  return parseRetryAfter(headers["retry-after"], referenceMs(headers, nowMs));
}

/** The current time by the service's clock. */
function referenceMs(headers: IncomingHttpHeaders, nowMs: number): number {
  const serviceMs = Date.parse(headers.date ?? "");
  return Math.abs(serviceMs - nowMs) > trustedSkewMs ? serviceMs : nowMs;
}

function readWhole(header: string | string[] | undefined): number | undefined {
  return typeof header === "string" && /^\d{1,12}$/.test(header) ? Number(header) : undefined;
}
