import { createPaint } from "./colors.ts";
import { indentLabels, sanitizeText } from "./safe-text.ts";
import { type TextLayout, wrapLine } from "./text-layout.ts";
import { formatFields, formatTable, layoutForView, createTable, type Table } from "./text-table.ts";
import { type Format, type View, type Cell, table } from "./view.ts";
import type { Writable } from "node:stream";
import { cellOf, type Row, type RowStream } from "./row-stream.ts";

/** The properties of the output terminal. */
export interface Screen {
  readonly width: number;
  readonly isColored: boolean;
  /** Changes the texts in CSV output, to protect spreadsheets and terminals. */
  readonly toCsvText?: (text: string) => string;
}

/** Renders the result of a command. `json` and `ndjson` print the data itself; `table` and `csv` print its view. */
export function renderData(data: unknown, view: View, format: Format, screen: Screen): Promise<string> {
  const render: Record<Format, () => Promise<string>> = {
    json: async () => toJson(data),
    ndjson: async () => (Array.isArray(data) ? data.map(toJson).join("") : toJson(data)),
    csv: () => renderCsv(view, screen),
    table: () => renderText(view, screen),
  };
  return render[format]();
}

export function toJson(data: unknown): string {
  return `${JSON.stringify(data)}\n`;
}

async function renderCsv(view: View, screen: Screen): Promise<string> {
  if (view.columns.length === 0) return "";
  const { stringify } = await import("csv-stringify/sync");
  return stringify([...view.rows], { header: true, columns: [...view.columns], cast: csvCasts(screen) });
}

/** How values are written in CSV. */
export function csvCasts({ toCsvText = (text) => text }: Screen) {
  return { boolean: String, string: toCsvText };
}

async function renderText(view: View, screen: Screen): Promise<string> {
  const paint = await createPaint(screen.isColored);
  const layout = await layoutForView(view);
  const render: Record<View["layout"], () => string> = {
    silent: () => "",
    line: () => view.rows.map((row) => `${row[view.columns[0] ?? ""] ?? ""}\n`).join(""),
    fields: () => [formatFields(view, paint, layout), ...formatLines(view, screen, paint, layout)].join("\n"),
    table: () => formatTable(view, screen.width, paint, layout),
    text: () => formatLines(view, screen, paint, layout).join(""),
  };
  return indentLabels(render[view.layout]());
}

/** The lines of a view as one text, or nothing if it has none. */
function formatLines(
  { lines, lineTones }: View,
  { width }: Screen,
  paint: Awaited<ReturnType<typeof createPaint>>,
  layout: TextLayout,
): readonly string[] {
  if (!lines) return [];
  const formatted = lines.flatMap((line, at) => {
    const tone = lineTones?.[at];
    return wrapLine(sanitizeText(line), width, layout).map((part) => `${tone ? paint[tone](part) : part}\n`);
  });
  return [formatted.join("")];
}

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
  format: Format,
  columns: readonly string[],
  screen: Screen,
): Promise<number> {
  const formatter = await formatters[format](stream, columns, screen);
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

type CreateFormatter = (
  stream: RowStream,
  columns: readonly string[],
  screen: Screen,
) => RowFormatter | Promise<RowFormatter>;

const formatters: Readonly<Record<Format, CreateFormatter>> = {
  json: createJsonFormatter,
  ndjson: () => ({ format: (rows) => rows.map(toJson).join(""), end: () => "" }),
  csv: createCsvFormatter,
  table: createTableFormatter,
};

function createJsonFormatter(): RowFormatter {
  let separator = "[";
  const format = (page: readonly Row[]) => {
    const texts = page.map((row) => JSON.stringify(row)).join(",");
    const text = texts === "" ? "" : separator + texts;
    if (text !== "") separator = ",";
    return text;
  };
  return { format, end: () => (separator === "[" ? "[]\n" : "]\n") };
}

async function createCsvFormatter(
  _stream: RowStream,
  columns: readonly string[],
  screen: Screen,
): Promise<RowFormatter> {
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
  { headings }: RowStream,
  columns: readonly string[],
  screen: Screen,
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
