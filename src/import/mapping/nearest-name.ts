import { normalizeName } from "./names.ts";

/** A hint for an unknown name. */
export function suggest(wanted: string, among: readonly string[]): string {
  const nearest = nearestOf(wanted, among);
  return nearest === undefined
    ? `accepted values: ${among.slice(0, 20).join(", ")}`
    : `did you mean '${nearest}'?`;
}

/**
 * The name that contains the wanted one, or else the one with the smallest edit distance, if that is at most half of
 * its length.
 */
export function nearestOf(wanted: string, among: readonly string[]): string | undefined {
  const target = normalizeName(wanted);
  const scored = among.map((name) => {
    const isHolding = normalizeName(name).includes(target);
    return { name, distance: isHolding ? 0 : countChanges(target, normalizeName(name)) };
  });
  scored.sort((a, b) => a.distance - b.distance);
  const [best] = scored;
  return best && best.distance <= Math.max(target.length, normalizeName(best.name).length) / 2
    ? best.name
    : undefined;
}

/** Levenshtein distance. */
export function countChanges(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const swap = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
