import { createHash } from "node:crypto";

/**
 * The SHA-256 of a plan's contents without the checksum, in hexadecimal; independent of the file's formatting.
 * Assumed: it guards against accidental edits and is not a signature; anyone can recompute it.
 */
export function sumPlan(plan: object): string {
  const { checksum: _own, ...rest } = JSON.parse(JSON.stringify(plan)) as Readonly<Record<string, unknown>>;
  return createHash("sha256")
    .update(JSON.stringify(sortKeys(rest)))
    .digest("hex");
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, held]) => [key, sortKeys(held)]));
}
