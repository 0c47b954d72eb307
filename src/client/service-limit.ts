import type { IncomingHttpHeaders } from "node:http";
import { parseRetryAfter } from "../contract/time.ts";

/** What a reply says of the service's own limit. */
export interface ServiceLimit {
  /** Requests left in the service's window. */
  readonly remaining: number;
  /** Unix timestamp at which the window ends. */
  readonly resetAtSeconds: number;
  /** Milliseconds until then, from now. */
  readonly resetInMs: number;
}

/** Two clocks that differ by more than this are told apart by the reply's own `Date`, which has whole seconds. */
const trustedSkewMs = 2_000;

/** Longest wait that a reply can ask for; what is beyond it is taken for a mistake. */
const longestWaitMs = 60_000;

/** Reads `RateLimit-Remaining` and `RateLimit-Reset`. Source: spec "Limits". */
export function readServiceLimit(headers: IncomingHttpHeaders, nowMs: number): ServiceLimit | undefined {
  const remaining = readWhole(headers["ratelimit-remaining"]);
  const resetAtSeconds = readWhole(headers["ratelimit-reset"]);
  if (remaining === undefined || resetAtSeconds === undefined) return undefined;
  const resetInMs = boundWait(resetAtSeconds * 1_000 - referenceMs(headers, nowMs));
  return { remaining, resetAtSeconds, resetInMs };
}

/** Reads `Retry-After`, in milliseconds from now. */
export function readRetryAfterMs(headers: IncomingHttpHeaders, nowMs: number): number | undefined {
  const waitMs = parseRetryAfter(headers["retry-after"], referenceMs(headers, nowMs));
  return waitMs === undefined ? undefined : boundWait(waitMs);
}

/** The time against which the service's timestamps are read. */
function referenceMs(headers: IncomingHttpHeaders, nowMs: number): number {
  const serviceMs = Date.parse(headers.date ?? "");
  return Math.abs(serviceMs - nowMs) > trustedSkewMs ? serviceMs : nowMs;
}

function boundWait(ms: number): number {
  return Math.min(Math.max(0, ms), longestWaitMs);
}

function readWhole(header: string | string[] | undefined): number | undefined {
  return typeof header === "string" && /^\d{1,12}$/.test(header) ? Number(header) : undefined;
}
