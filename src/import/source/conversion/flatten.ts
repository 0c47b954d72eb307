import { FileFormatError } from "../../import-error.ts";
import type { JsonObject } from "./json-records.ts";

/** Deeper objects are not flattened; exports nest a few levels. */
const maxDepth = 32;

/**
 * The cells of a JSON object by column: `{"reviewer": {"name": "Ada"}}` has the column `reviewer.name`. The values of an
 * array are joined with commas, and so are those of each property of its objects.
 * @throws FileFormatError if it is nested too deeply
 */
export function flattenObject(value: JsonObject): Map<string, string> {
  const cells = new Map<string, string>();
  addObject(value, "", cells, 1);
  return cells;
}

function addObject(value: JsonObject, prefix: string, cells: Map<string, string>, depth: number): void {
  for (const [name, member] of Object.entries(value)) addValue(member, prefix + name, cells, depth);
}

function addValue(value: unknown, column: string, cells: Map<string, string>, depth: number): void {
  if (typeof value !== "object" || value === null) {
    cells.set(column, typeof value === "string" ? value : value === null ? "" : JSON.stringify(value));
    return;
  }
  if (depth >= maxDepth) throw new FileFormatError(`an object is nested more than ${maxDepth} levels deep`);
  if (!Array.isArray(value)) {
    addObject(value as JsonObject, `${column}.`, cells, depth + 1);
    return;
  }
  const joined = new Map<string, string[]>();
  for (const element of value as readonly unknown[]) {
    const own = new Map<string, string>();
    addValue(element, column, own, depth + 1);
    for (const [name, text] of own) {
      const texts = joined.get(name) ?? [];
      if (text !== "") texts.push(text);
      joined.set(name, texts);
    }
  }
  if (joined.size === 0) cells.set(column, "");
  for (const [name, texts] of joined) cells.set(name, texts.join(","));
}
