import { cellOf, type Row } from "../../../terminal/row-stream.ts";
import { fields, silent, type View } from "../../../terminal/view.ts";

/** What a person sees of a call's answer: its fields, or those of the one record that it holds. */
export function viewOf(answer: Row): View {
  const [only, ...others] = Object.values(answer);
  const isRecord = others.length === 0 && typeof only === "object" && only !== null && !Array.isArray(only);
  const record = isRecord ? (only as Row) : answer;
  const names = Object.keys(record).flatMap((name) => namesInside(record, name));
  if (names.length === 0) return silent();
  return fields(Object.fromEntries(names.map((name) => [name, cellOf(record, name)])));
}

/** A field by its name; one that is a record, by the names of its own fields. */
function namesInside(record: Row, name: string): readonly string[] {
  const held = record[name];
  if (held === undefined) return [];
  if (typeof held !== "object" || held === null || Array.isArray(held)) return [name];
  const inside = Object.keys(held);
  return inside.length === 0 ? [name] : inside.map((own) => `${name}.${own}`);
}

/**
 * How many parts of a bulk call were refused, by the answer that it got all the same.
 * Source: spec "Orders (purchases)", "Products", "Unsubscribers", "Coupons": `errors`.
 */
export function countRefused(answer: Row): number {
  const { errors } = answer;
  if (Array.isArray(errors)) return errors.length;
  if (typeof errors !== "object" || errors === null) return 0;
  const found = Object.values(errors) as readonly Row[];
  const counts = found.map(({ error_count: count }) => (typeof count === "number" ? count : 1));
  return counts.reduce((sum, count) => sum + count, 0);
}
