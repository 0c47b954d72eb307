import type { Writable } from "node:stream";
import { createPaint } from "./colors.ts";
import { toJson, type Screen } from "./render.ts";
import { cellOf, type Row, type RowStream } from "./row-stream.ts";
import { createTable, rulerFor, type Table } from "./text-table.ts";
import { type Cell, type Format, table } from "./view.ts";

/** Rows that decide how wide a table's columns are. */
const rowsMeasured = 1_000;

/** How rows of a stream become text. */
interface RowForm {
  readonly rows: (rows: readonly Row[]) => string | Promise<string>;
  /** What stands behind the last row, also where the stream broke off: what is printed stays one document. */
  readonly end: () => string | Promise<string>;
}

/**
 * Prints rows as they come. Ends early, without a word, where nobody reads any more. Where the stream breaks off
 * before its first page nothing is printed: an empty list would say that there are none.
 * @returns how many rows were printed
 * @throws what the stream throws, once what was printed is a whole document
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
  const form = await forms[format](columns, screen);
  let count = 0;
  let hasBegun = false;
  try {
    for await (const rows of stream.pages) {
      hasBegun = true;
      count += rows.length;
      if (!(await write(out, await form.rows(rows)))) return count;
    }
    hasBegun = true;
  } finally {
    if (hasBegun) await write(out, await form.end());
  }
  return count;
}

const forms: Readonly<
  Record<Format, (columns: readonly string[], screen: Screen) => RowForm | Promise<RowForm>>
> = {
  json: createJsonForm,
  ndjson: () => ({ rows: (rows) => rows.map(toJson).join(""), end: () => "" }),
  csv: createCsvForm,
  table: createTableForm,
};

function createJsonForm(): RowForm {
  let before = "[";
  const rows = (page: readonly Row[]) =>
    page
      .map((row) => {
        const text = before + JSON.stringify(row);
        before = ",";
        return text;
      })
      .join("");
  return { rows, end: () => (before === "[" ? "[]\n" : "]\n") };
}

async function createCsvForm(columns: readonly string[]): Promise<RowForm> {
  const { stringify } = await import("csv-stringify/sync");
  let hasHeader = false;
  const rows = (page: readonly Row[]) => {
    const text = stringify(
      page.map((row) => toCells(row, columns)),
      { header: !hasHeader, columns: [...columns], cast: { boolean: String } },
    );
    hasHeader = true;
    return text;
  };
  return { rows, end: () => (hasHeader ? "" : rows([])) };
}

async function createTableForm(columns: readonly string[], screen: Screen): Promise<RowForm> {
  const paint = await createPaint(screen.isColoured);
  let held: Row[] = [];
  let laid: Table | undefined;
  const lay = async (page: readonly Row[]) => {
    if (page.length === 0) return "";
    const view = table(
      page.map((row) => toCells(row, columns)),
      columns,
    );
    const ruler = await rulerFor(view);
    if (laid) return (laid.header === "" ? "\n" : "") + laid.rows(view, ruler);
    laid = createTable(view, screen.width, paint, ruler);
    return laid.header + laid.rows(view, ruler);
  };
  const release = () => {
    const all = held;
    held = [];
    return lay(all);
  };
  return {
    rows: async (page) => {
      held = held.concat(page);
      return laid || held.length >= rowsMeasured ? release() : "";
    },
    end: release,
  };
}

function toCells(row: Row, columns: readonly string[]): Readonly<Record<string, Cell>> {
  return Object.fromEntries(columns.map((column) => [column, cellOf(row, column)]));
}

/** @returns whether somebody still reads */
async function write(out: Writable, text: string): Promise<boolean> {
  if (out.destroyed || out.errored) return false;
  if (text === "" || out.write(text)) return true;
  return new Promise((resolve) => {
    const settle = (isRead: boolean) => {
      out.off("drain", onDrain).off("close", onEnd).off("error", onEnd);
      resolve(isRead);
    };
    const onDrain = () => settle(true);
    const onEnd = () => settle(false);
    out.once("drain", onDrain).once("close", onEnd).once("error", onEnd);
  });
}
