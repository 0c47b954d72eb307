import type { TokenBucket } from "../../contract/index.ts";
import { hourMs } from "../../contract/time.ts";
import type { TokenStore } from "../../storage/token-store.ts";

/** A bucket that is filled steadily, and its name. */
interface SizedBucket {
  readonly key: string;
  readonly size: TokenBucket;
}

/**
 * Takes a token from each of several buckets. Assumed: if one is empty, the tokens of the others are taken anyway.
 * @returns 0, or after how many milliseconds all of them have one
 */
export async function takeTokens(store: TokenStore, buckets: readonly SizedBucket[], nowMs: number): Promise<number> {
  if (buckets.length === 0) return 0;
  const tokens = buckets.map(({ key, size: { burst, perHour } }) => {
    const cost = Math.ceil(hourMs / perHour);
    const emptyLevel = nowMs + burst * cost;
    return { key, fullLevel: nowMs, emptyLevel, cost, period: 0, replacement: emptyLevel };
  });
  const taken = await store.take(tokens);
  const waits = tokens.map(({ cost, emptyLevel }, at) => {
    const { isTaken = false, level = 0 } = taken[at] ?? {};
    // A simultaneous call may have taken the last token after the level was read.
    return isTaken ? 0 : Math.max(1, Math.min(level, emptyLevel) + cost - emptyLevel);
  });
  return Math.max(...waits);
}
