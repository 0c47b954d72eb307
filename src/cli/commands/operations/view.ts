import { cellOf, type Row } from "../../../terminal/row-stream.ts";
import { fields, silent, type View } from "../../../terminal/view.ts";
import { isJsonObject } from "../../../contract/json-text.ts";

/** Shows the fields of a response. If the response holds a single record, shows the fields of that record. */
export function viewOf(response: Row): View {
  const [only, ...rest] = Object.values(response);
  const record = rest.length === 0 && isJsonObject(only) ? only : response;
  const names = Object.keys(record).flatMap((name) => expandName(record, name));
  if (names.length === 0) return silent();
  return fields(Object.fromEntries(names.map((name) => [name, cellOf(record, name)])));
}

/** A field's name, or for a nested record the names of its fields: `user.email`. */
function expandName(record: Row, name: string): readonly string[] {
  const value = record[name];
  if (value === undefined) return [];
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [name];
  const inner = Object.keys(value);
  return inner.length === 0 ? [name] : inner.map((innerName) => `${name}.${innerName}`);
}

/**
 * Counts the items that a bulk operation rejected although it succeeded as a whole.
 * Source: spec "Orders (purchases)", "Products", "Unsubscribers", "Coupons": `errors`.
 */
export function countRejected(response: Row): number {
  const { errors } = response;
  if (Array.isArray(errors)) return errors.length;
  if (typeof errors !== "object" || errors === null) return 0;
  const groups = Object.values(errors) as readonly Row[];
  const counts = groups.map(({ error_count: count }) => (typeof count === "number" ? count : 1));
  return counts.reduce((sum, count) => sum + count, 0);
}
