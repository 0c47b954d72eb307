import { hash } from "node:crypto";
import { idempotencyKeys } from "../../contract/index.ts";
import { hourMs } from "../../contract/time.ts";
import type { Item } from "../item.ts";
import type { ImportBehavior } from "../kind.ts";
import type { Settled } from "../run/journal.ts";
import type { Chunk } from "./chunks.ts";

/** A call is not repeated under its key shortly before the service may forget it: clocks differ. */
const safeLifetimeMs = idempotencyKeys.lifetimeMs - hourMs;

/**
 * The idempotency key of a call: the same whenever a run sends the same items of the same chunk. Undefined if the kind
 * has none. The files of a run never change, so the keys of its items identify their content.
 */
export function keyOfCall(
  behavior: ImportBehavior,
  runId: string | undefined,
  { extent }: Chunk,
  items: readonly Item[],
): string | undefined {
  const { keyedBy, operation } = behavior;
  if (keyedBy === undefined || runId === undefined) return undefined;
  const scope = keyedBy === "run" ? [runId, extent] : [];
  const content = JSON.stringify([operation, ...scope, items.map(({ key }) => key)]);
  return `starpost-${hash("sha256", content, "base64url")}`;
}

/**
 * Whether a chunk without a known outcome can be sent again as it is, because the service still knows its key: it was
 * sent as one call, recently, and the service honored keys.
 */
export function isRepeatable({ honorsKeys, keyed, parted }: Settled, n: number, key: string, nowMs: number): boolean {
  const sent = keyed.get(n);
  if (!honorsKeys || !sent || sent.key !== key || parted.has(n)) return false;
  return sent.atMs <= nowMs && nowMs - sent.atMs < safeLifetimeMs;
}
