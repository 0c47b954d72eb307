import { type Check, ok, problem, warning } from "../check.ts";

const skew = { warnMs: 5_000, problemMs: 60_000 } as const;

/**
 * Compares this machine's clock with another.
 * @param aheadMs the other's time less this machine's
 * @param doubtMs by how much that may be wrong
 */
export function judgeClock(aheadMs: number, doubtMs: number): Check {
  const name = "clock";
  const byMs = Math.max(0, Math.abs(aheadMs) - doubtMs);
  const side = aheadMs > 0 ? "behind" : "ahead of";
  const message = `this machine's clock is ${showDuration(Math.abs(aheadMs))} ${side} the service's`;
  if (byMs <= skew.warnMs) {
    return ok(
      name,
      `this machine's clock and the service's agree within ${showDuration(Math.abs(aheadMs) + doubtMs)}`,
    );
  }
  const fix = "Set this machine's clock, or let it follow a time server (timedatectl set-ntp true).";
  return byMs > skew.problemMs ? problem(name, message, fix) : warning(name, message, fix);
}

function showDuration(ms: number): string {
  const seconds = ms / 1_000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  return seconds < 120 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
}
