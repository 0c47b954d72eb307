import { coreRateLimit, type Endpoint, readRateLimit } from "../../contract/index.ts";
import type { TokenStore } from "../../storage/token-store.ts";

/** The number of requests that an account may make in a fixed time window. */
export interface RateLimit {
  readonly name: "core" | "cdn" | "legacy" | "public";
  readonly requests: number;
  readonly windowMs: number;
  /** Whether responses include the remaining number of requests. Source: spec "Limits": every core API response does. */
  readonly isReported: boolean;
}

/**
 * Source: spec "Limits". Assumed: the optional limit for other operations equals the one of the core API. Calls without
 * credentials have a window of their own, because anyone can make them.
 */
const limits = {
  core: { name: "core", ...coreRateLimit, isReported: true },
  cdn: { name: "cdn", ...readRateLimit, isReported: false },
  legacy: { name: "legacy", ...coreRateLimit, isReported: true },
  public: { name: "public", ...coreRateLimit, isReported: true },
} as const satisfies Record<string, RateLimit>;

interface LimitedCall {
  /** Whether to also limit operations for which the specification defines no limit. */
  readonly limitLegacy: boolean;
  /** Whether the caller has proved to be the store. */
  readonly isStore: boolean;
}

/** The limit that applies to a call, if any. */
export function limitOf(endpoint: Endpoint, { limitLegacy, isStore }: LimitedCall): RateLimit | undefined {
  if (endpoint.errorForm === "core") return limits.core;
  if (endpoint.isReadLimited) return limits.cdn;
  if (!limitLegacy) return undefined;
  return isStore ? limits.legacy : limits.public;
}

export interface WindowState {
  readonly allowed: boolean;
  readonly remaining: number;
  readonly resetAtMs: number;
}

/**
 * Counts a request of an account: a window is a bucket that is filled at once when it begins.
 * Source: spec "Limits". Assumed: windows are aligned to the clock, so one-second windows start at full seconds;
 * rejected calls do not count.
 * Clocks differ between machines. A machine whose clock is behind counts in the window that another has started. A
 * window that starts more than one window length in the future is discarded as the result of a wrong clock.
 * @param limit its window must have at least as many milliseconds as requests
 */
export async function takeRequest(
  store: TokenStore,
  accountId: number,
  { name, requests, windowMs }: RateLimit,
  nowMs: number,
): Promise<WindowState> {
  const startMs = Math.floor(nowMs / windowMs) * windowMs;
  const cost = Math.floor(windowMs / requests);
  const emptyLevel = startMs + requests * cost;
  const key = `${name} ${accountId}`;
  const token = { key, fullLevel: startMs, emptyLevel, cost, period: windowMs, replacement: startMs };
  const [{ isTaken, level } = { isTaken: false, level: 0 }] = await store.take([token]);
  const aheadMs = level > emptyLevel && level <= emptyLevel + windowMs ? windowMs : 0;
  const remaining = isTaken ? (emptyLevel + aheadMs - level) / cost : 0;
  return { allowed: isTaken, remaining, resetAtMs: startMs + aheadMs + windowMs };
}
