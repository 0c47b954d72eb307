import type { DateOrder, Layout } from "./layout.ts";

interface Read {
  readonly columnOf: ReadonlyMap<string, number>;
  readonly dateOrder: DateOrder | undefined;
}

/** What a file was read as, and what of that a person should know. */
export function describeLayout(
  layout: Layout,
  { columnOf, dateOrder }: Read,
  header: readonly string[],
): string {
  const lineColumn = layout.lines?.column(header);
  const said = ["product_id", "order_id"].flatMap((field) => {
    const column = header[columnOf.get(field) ?? -1];
    if (column === undefined) return [];
    return [`${field.replace("_", " ")}s are ${column === lineColumn ? "in " : ""}'${column}'`];
  });
  if (dateOrder)
    said.push(dateOrder === "day-first" ? "dates have the day first" : "dates have the month first");
  const more = [...said, ...(layout.says ?? [])].join("; ");
  // Where nothing is turned, reading by name is what is done.
  const other = Object.keys(layout.fields).length > 0 ? " (--layout none reads the columns by name)" : "";
  return `read as ${layout.title}${more === "" ? "" : `: ${more}`}${other}`;
}
