import { createRuler, cutText, isolate, plainRuler, type Ruler } from "./display-width.ts";
import type { Paint } from "./colors.ts";
import type { Cell, Tone, View } from "./view.ts";

const gap = "  ";
const narrowest = 8;

/** What measures the texts of a view. */
export function rulerFor({ columns, rows, lines = [] }: View): Promise<Ruler> {
  return createRuler(textsOf(columns, rows, lines));
}

function* textsOf(columns: View["columns"], rows: View["rows"], lines: readonly string[]): Generator<string> {
  yield* columns;
  yield* lines;
  for (const row of rows) {
    for (const column of columns) {
      const cell = row[column];
      if (typeof cell === "string") yield cell;
    }
  }
}

/** A table as wide as its first rows want, to which further rows can be put. */
export interface Table {
  readonly header: string;
  readonly rows: (view: View, ruler: Ruler) => string;
}

/**
 * A table no wider than `width`: the widest columns give way first, and what is cut ends in `…`. The first column, by
 * which a row is known, gives way last.
 * Assumed: where the columns are too many for the screen, each row is a record of its own, a line a field: none is
 * left out unseen, and what is to be copied is whole.
 * @param sample the rows that decide how wide the columns are
 */
export function createTable(sample: View, width: number, paint: Paint, ruler: Ruler = plainRuler): Table {
  const { columns } = sample;
  const cellsOf = (view: View) =>
    view.rows.map((row) => columns.map((column) => shortenTime(toText(row[column] ?? null))));
  const headers = columns.map(wordColumn);
  const cells = cellsOf(sample);
  const wanted = headers.map((header, at) =>
    cells.reduce((most, row) => Math.max(most, ruler.widthOf(row[at] ?? "")), ruler.widthOf(header)),
  );
  const widths = shrink(wanted, width - gap.length * (wanted.length - 1));
  if (!widths) return { header: "", rows: (view, by) => layOutRecords(view, paint, by) };
  const isNumber = columns.map((column) => isNumeric(sample.rows.map((row) => row[column] ?? null)));
  const lay = (texts: readonly string[], by: Ruler, tones: readonly (Tone | undefined)[] = []) =>
    texts
      .map((text, at) => {
        const place = { width: widths[at] ?? 0, isRight: isNumber[at] ?? false };
        const tone = tones[at];
        return fitCell(text, place, by, tone ? paint[tone] : undefined);
      })
      .join(gap)
      .trimEnd();
  const rows = (view: View, by: Ruler) =>
    cellsOf(view)
      .map((texts, at) => `${lay(texts, by, tonesOf(view, view.rows[at] ?? {}))}\n`)
      .join("");
  return { header: `${paint.bold(lay(headers, ruler))}\n`, rows };
}

/** The whole of a table. */
export function layOutTable(view: View, width: number, paint: Paint, ruler: Ruler = plainRuler): string {
  if (view.rows.length === 0) return "";
  const table = createTable(view, width, paint, ruler);
  return table.header + table.rows(view, ruler);
}

/** A record as `name  value` lines; values are never cut. */
export function layOutFields(view: View, paint: Paint, ruler: Ruler = plainRuler): string {
  const row = view.rows[0] ?? {};
  const widest = Math.max(0, ...view.columns.map((column) => ruler.widthOf(column)));
  const tones = tonesOf(view, row);
  return view.columns
    .map((column, at) => {
      const name = toText(column).replaceAll("_", " ");
      const padded = `${name}${" ".repeat(Math.max(0, widest - ruler.widthOf(name)))}`;
      const value = isolate(toText(row[column] ?? null));
      const tone = tones[at];
      return `${paint.dim(padded)}${gap}${tone ? paint[tone](value) : value}`.trimEnd() + "\n";
    })
    .join("");
}

/** Rows one after the other, as on a screen that has no room for a table of them. */
function layOutRecords(view: View, paint: Paint, ruler: Ruler): string {
  return view.rows.map((row) => layOutFields({ ...view, rows: [row] }, paint, ruler)).join("\n");
}

/**
 * Control characters that a file brought must not reach a terminal, nor marks that turn the direction of what stands
 * around them.
 */
export function toText(cell: Cell): string {
  if (cell === null) return "";
  return String(cell)
    .replaceAll(/\p{Cc}/gu, " ")
    .replaceAll(/[\u202A-\u202E\u2066-\u2069]/g, "");
}

/** A moment to the minute, which is what a column has room for; records and scripts have the whole of it. */
function shortenTime(text: string): string {
  return text.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d(?:\.\d+)?Z$/, "$1 $2Z");
}

function wordColumn(column: string): string {
  return toText(column).replaceAll("_", " ").toUpperCase();
}

function tonesOf({ columns, tones = {} }: View, row: View["rows"][number]): readonly (Tone | undefined)[] {
  return columns.map((column) => tones[column]?.(row[column] ?? null));
}

function isNumeric(cells: readonly Cell[]): boolean {
  return (
    cells.some((cell) => typeof cell === "number") &&
    cells.every((cell) => cell === null || typeof cell === "number")
  );
}

/** Nothing where they do not fit however much they give way. */
function shrink(wanted: readonly number[], room: number): number[] | undefined {
  const widths = [...wanted];
  const least = wanted.map((width, at) =>
    Math.min(width, at === 0 ? Math.max(narrowest, room / 2) : narrowest),
  );
  for (let total = sum(widths); total > room;) {
    const spare = widths.map((width, at) => (width > (least[at] ?? 0) ? width : 0));
    // The first gives way only where no other can.
    const others = Math.max(0, ...spare.slice(1));
    const at = others > 0 ? spare.indexOf(others, 1) : 0;
    if ((spare[at] ?? 0) === 0) return undefined;
    widths[at] = (widths[at] ?? 0) - 1;
    total -= 1;
  }
  return widths;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function fitCell(
  text: string,
  { width, isRight }: { readonly width: number; readonly isRight: boolean },
  ruler: Ruler,
  paint: (text: string) => string = (plain) => plain,
): string {
  const shown = cutText(text, width, ruler);
  const padding = " ".repeat(Math.max(0, width - ruler.widthOf(shown)));
  const painted = paint(isolate(shown));
  return isRight ? padding + painted : painted + padding;
}
