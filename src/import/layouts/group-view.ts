import type { RowView } from "../item.ts";
import type { RowGroups } from "./layout.ts";
import type { RowCells, RowFields } from "./row-fields.ts";

/**
 * The fields of one line of a group: its own, and shared fields from other rows of the group if the line leaves them
 * empty.
 * @param shared the fields of the record, which any of its rows may give
 */
export function viewLine(
  fields: RowFields,
  row: RowCells,
  rows: readonly RowCells[],
  shared: ReadonlySet<string>,
): RowView {
  const view: RowView = (field) => {
    const own = fields.given(field, row, view);
    if (own !== "") return own;
    const other = shared.has(field) ? findGiven(fields, field, rows, view) : "";
    return other === "" ? fields.supplied(field, row, view) : other;
  };
  return view;
}

/** The fields of a record that all rows of a group describe; the first row with a value counts. */
export function viewRecord(
  fields: RowFields,
  rows: readonly RowCells[],
  { together = [] }: RowGroups,
): RowView {
  const [lead] = rows;
  if (!lead) return () => "";
  const view: RowView = (field) => {
    const found = findGiven(fields, field, together.includes(field) ? oneOf : rows, view);
    return found === "" ? fields.supplied(field, lead, view) : found;
  };
  const oneOf = rows
    .filter((row) => together.some((field) => fields.given(field, row, () => "") !== ""))
    .slice(0, 1);
  return view;
}

function findGiven(fields: RowFields, field: string, rows: readonly RowCells[], view: RowView): string {
  for (const row of rows) {
    const value = fields.given(field, row, view);
    if (value !== "") return value;
  }
  return "";
}
