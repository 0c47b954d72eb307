import { distance } from "fastest-levenshtein";
import { normalizeName } from "./names.ts";

/** A hint for an unknown name. */
export function suggest(wanted: string, names: readonly string[]): string {
  const closest = findClosestName(wanted, names);
  return closest === undefined
    ? `accepted values: ${names.slice(0, 20).join(", ")}`
    : `did you mean '${closest}'?`;
}

/** The name that contains the wanted one, or else the one with the fewest edits, if they are at most half of its letters. */
export function findClosestName(wanted: string, names: readonly string[]): string | undefined {
  const target = normalizeName(wanted);
  const scored = names.map((name) => ({ name, edits: countEdits(target, normalizeName(name)) }));
  scored.sort((a, b) => a.edits - b.edits);
  const [best] = scored;
  if (!best) return undefined;
  return best.edits <= Math.max(target.length, normalizeName(best.name).length) / 2 ? best.name : undefined;
}

function countEdits(target: string, name: string): number {
  return name.includes(target) ? 0 : distance(target, name);
}
