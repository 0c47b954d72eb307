import type { DateOrder, Layout } from "./layout.ts";

interface Read {
  readonly columnOf: ReadonlyMap<string, number>;
  readonly dateOrder: DateOrder | undefined;
}

/** Describes the layout with which a file is read, and the decisions that it entails. */
export function describeLayout(
  layout: Layout,
  { columnOf, dateOrder }: Read,
  header: readonly string[],
): string {
  const lineColumn = layout.lines?.column(header);
  const notes = ["product_id", "order_id"].flatMap((field) => {
    const column = header[columnOf.get(field) ?? -1];
    if (column === undefined) return [];
    return [`${field.replace("_id", " ID")}s are ${column === lineColumn ? "in " : ""}'${column}'`];
  });
  if (dateOrder)
    notes.push(dateOrder === "day-first" ? "dates start with the day" : "dates start with the month");
  const more = [...notes, ...(layout.notes ?? [])].join("; ");
  // If nothing is translated, the columns are read by name anyway.
  const other =
    Object.keys(layout.fields).length > 0 ? " (to read the columns by name, pass --layout none)" : "";
  return `read as ${layout.title}${more === "" ? "" : `: ${more}`}${other}`;
}
