import type { Writable } from "node:stream";
import { usageError } from "../../../config/user-error.ts";
import { renderData, writeRows } from "../../../terminal/render.ts";
import { RowStream } from "../../../terminal/row-stream.ts";
import type { View } from "../../../terminal/view.ts";
import type { Globals } from "../global-flags.ts";
import type { Io } from "../io.ts";
import { csvTextOf } from "./csv-text.ts";
import { readScreen } from "./screen.ts";

/**
 * Prints the data of a command in the selected format and columns.
 * @param view the table view; not needed for rows that are printed as they arrive
 * @returns the number of rows, for a stream
 */
export async function print(io: Io, globals: Globals, data: unknown, view: () => View): Promise<number | undefined> {
  if (!io.isStdoutTerminal || globals.format !== "table") return printTo(io.stdout, io, globals, data, view);
  const { openPager } = await import("./pager.ts");
  const paged = openPager(io, globals);
  try {
    return await printTo(paged?.stream ?? io.stdout, io, globals, data, view);
  } finally {
    await paged?.close();
  }
}

async function printTo(out: Writable, io: Io, globals: Globals, data: unknown, view: () => View) {
  const { format, columns } = globals;
  const screen = { ...readScreen(io), ...(format === "csv" && { toCsvText: csvTextOf(io, globals) }) };
  if (data instanceof RowStream) {
    return writeRows(out, data, format, choose(columns, data), screen);
  }
  const shown = view();
  const own = format === "csv" ? (shown.fileColumns ?? shown.columns) : shown.columns;
  const allColumns = [...new Set([...own, ...Object.keys(shown.rows[0] ?? {})])];
  const chosen = { ...shown, columns: choose(columns, { columns: own, allColumns }) };
  out.write(await renderData(data, chosen, format, screen));
  return undefined;
}

function choose(
  wanted: readonly string[] | undefined,
  { columns, allColumns }: Pick<RowStream, "columns" | "allColumns">,
): readonly string[] {
  checkColumns(wanted, allColumns);
  return wanted ?? columns;
}

/** @throws UserError `usage` for an unknown column. Members of a field are not checked, because the rows are not yet known. */
export function checkColumns(wanted: readonly string[] | undefined, known: readonly string[]): void {
  const unknown = wanted?.find((name) => !known.includes(name) && !name.includes("."));
  if (unknown === undefined) return;
  throw usageError(
    `invalid value ${JSON.stringify(unknown)} for --columns: no such column`,
    `Available columns: ${known.join(", ")}.`,
    undefined,
    { given: unknown, known },
  );
}
