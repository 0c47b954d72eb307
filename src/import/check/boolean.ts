import type { RowError, RowView } from "../item.ts";

const booleans: Readonly<Record<string, boolean>> = {
  true: true,
  yes: true,
  y: true,
  "1": true,
  false: false,
  no: false,
  n: false,
  "0": false,
};

/** Reads a boolean as files write it. An empty cell is undefined; so is an invalid one, which adds an error. */
export function readBoolean(row: RowView, field: string, problems: RowError[]): boolean | undefined {
  const value = row(field);
  if (value === "") return undefined;
  const known = booleans[value.toLowerCase()];
  if (known === undefined) {
    problems.push({ field, code: "bad_boolean", reason: "is neither true nor false" });
  }
  return known;
}
