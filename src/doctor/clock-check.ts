import type { IncomingHttpHeaders } from "node:http";
import { formatDuration } from "../terminal/plural.ts";
import { type Check, ok, problem, skipped, warning } from "./check.ts";

const name = "clock";

const skewMs = { warning: 5_000, problem: 60_000 } as const;

/**
 * Compares this machine's clock with the service's.
 * @param aheadMs service time minus local time
 * @param uncertaintyMs maximum error of `aheadMs`
 */
export function checkClock(aheadMs: number, uncertaintyMs: number): Check {
  const differenceMs = Math.abs(aheadMs);
  const minDifferenceMs = Math.max(0, differenceMs - uncertaintyMs);
  if (minDifferenceMs <= skewMs.warning) {
    return ok(name, `this machine's clock is within ${formatDuration(differenceMs + uncertaintyMs)} of the service's`);
  }
  const direction = aheadMs > 0 ? "behind" : "ahead of";
  const message = `this machine's clock is ${formatDuration(differenceMs)} ${direction} the service's`;
  const fix = "Set the clock, or synchronize it with a time server (timedatectl set-ntp true).";
  return minDifferenceMs > skewMs.problem ? problem(name, message, fix) : warning(name, message, fix);
}

/** The resolution of the `Date` header. Source: RFC 9110, section 6.6.1. */
const dateResolutionMs = 1_000;

/** Compares the clocks by the `Date` header of a response. */
export function checkResponseClock(
  headers: IncomingHttpHeaders,
  { sentAtMs, receivedAtMs }: { readonly sentAtMs: number; readonly receivedAtMs: number },
): Check {
  const dateMs = Date.parse(headers.date ?? "");
  if (Number.isNaN(dateMs)) return skipped(name, "the response has no Date header");
  // A cached response has the date of the original response.
  const ageMs = Math.max(0, Number(headers.age ?? 0)) * 1_000 || 0;
  const serviceMs = dateMs + dateResolutionMs / 2 + ageMs;
  const uncertaintyMs = dateResolutionMs / 2 + (receivedAtMs - sentAtMs) / 2;
  return checkClock(serviceMs - (sentAtMs + receivedAtMs) / 2, uncertaintyMs);
}
