import type { Writable } from "node:stream";
import { createPaint } from "./colors.ts";
import { csvCasts, toJson, type Screen } from "./render.ts";
import { cellOf, type Row, type RowStream } from "./row-stream.ts";
import { indentLabels } from "./safe-text.ts";
import { createTable, layoutForView, type Table } from "./text-table.ts";
import { type Cell, type Format, table } from "./view.ts";

/** The number of rows that determine the column widths of a table. */
const measuredRows = 1_000;

interface RowFormatter {
  readonly format: (rows: readonly Row[]) => string | Promise<string>;
  /** Returns the text after the last row; also called if the stream fails, so that the output is a valid document. */
  readonly end: () => string | Promise<string>;
}

/**
 * Prints rows as they arrive. Stops silently if the output is closed. If the stream fails before its first page,
 * prints nothing, because an empty list would be wrong.
 * @returns the number of rows printed
 * @throws the error of the stream, after completing the document
 */
export async function writeRows(
  out: Writable,
  stream: RowStream,
  {
    format,
    columns,
    screen,
  }: { readonly format: Format; readonly columns: readonly string[]; readonly screen: Screen },
): Promise<number> {
  const formatter = await formatters[format](columns, screen, stream.headings);
  let count = 0;
  let hasStarted = false;
  try {
    for await (const rows of stream.pages) {
      hasStarted = true;
      count += rows.length;
      if (!(await write(out, await formatter.format(rows)))) return count;
    }
    hasStarted = true;
  } finally {
    if (hasStarted) await write(out, await formatter.end());
  }
  return count;
}

const formatters: Readonly<
  Record<
    Format,
    (
      columns: readonly string[],
      screen: Screen,
      headings: RowStream["headings"],
    ) => RowFormatter | Promise<RowFormatter>
  >
> = {
  json: createJsonFormatter,
  ndjson: () => ({ format: (rows) => rows.map(toJson).join(""), end: () => "" }),
  csv: createCsvFormatter,
  table: createTableFormatter,
};

function createJsonFormatter(): RowFormatter {
  let separator = "[";
  const format = (page: readonly Row[]) =>
    page
      .map((row) => {
        const text = separator + JSON.stringify(row);
        separator = ",";
        return text;
      })
      .join("");
  return { format, end: () => (separator === "[" ? "[]\n" : "]\n") };
}

async function createCsvFormatter(columns: readonly string[], screen: Screen): Promise<RowFormatter> {
  const { stringify } = await import("csv-stringify/sync");
  let hasHeader = false;
  const format = (page: readonly Row[]) => {
    const text = stringify(
      page.map((row) => toCells(row, columns)),
      { header: !hasHeader, columns: [...columns], cast: csvCasts(screen) },
    );
    hasHeader = true;
    return text;
  };
  return { format, end: () => (hasHeader ? "" : format([])) };
}

async function createTableFormatter(
  columns: readonly string[],
  screen: Screen,
  headings: RowStream["headings"],
): Promise<RowFormatter> {
  const paint = await createPaint(screen.isColored);
  let pending: Row[] = [];
  let laidOut: Table | undefined;
  const formatPage = async (page: readonly Row[]) => {
    if (page.length === 0) return "";
    const rows = page.map((row) => toCells(row, columns));
    const view = { ...table(rows, columns), headings };
    const layout = await layoutForView(view);
    const header = laidOut?.header === "" ? "\n" : "";
    if (laidOut) return header + indentLabels(laidOut.formatRows(view, layout));
    laidOut = createTable(view, screen.width, paint, layout);
    return laidOut.header + indentLabels(laidOut.formatRows(view, layout));
  };
  const flush = () => {
    const rows = pending;
    pending = [];
    return formatPage(rows);
  };
  return {
    format: async (page) => {
      pending = pending.concat(page);
      return laidOut || pending.length >= measuredRows ? flush() : "";
    },
    end: flush,
  };
}

function toCells(row: Row, columns: readonly string[]): Readonly<Record<string, Cell>> {
  return Object.fromEntries(columns.map((column) => [column, cellOf(row, column)]));
}

/** Writes text and waits until the stream accepts more. Returns whether the stream is still open. */
async function write(out: Writable, text: string): Promise<boolean> {
  if (out.destroyed || out.errored) return false;
  if (text === "" || out.write(text)) return true;
  return new Promise((resolve) => {
    const settle = (isOpen: boolean) => {
      out.off("drain", onDrain).off("close", onClose).off("error", onClose);
      resolve(isOpen);
    };
    const onDrain = () => settle(true);
    const onClose = () => settle(false);
    out.once("drain", onDrain).once("close", onClose).once("error", onClose);
  });
}
