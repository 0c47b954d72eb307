import type { Paint } from "./colors.ts";
import { sanitizeText } from "./safe-text.ts";
import { isolateDirection, layoutFor, narrowLayout, type TextLayout } from "./text-layout.ts";
import type { Cell, Tone, View } from "./view.ts";

const gap = "  ";
const minColumnWidth = 8;

/** Columns of values that are useless in part. */
const secretColumn = /(?:^|[._])(?:secret|u?token|password|code|(?:app|public|api)_key|signature)$/;

export function layoutForView(view: View): Promise<TextLayout> {
  return layoutFor(listTexts(view));
}

function* listTexts({ columns, rows, lines = [] }: View): Generator<string> {
  yield* columns;
  yield* lines;
  for (const row of rows) {
    for (const column of columns) {
      const cell = row[column];
      if (typeof cell === "string") yield cell;
    }
  }
}

/** A table whose column widths are set by its first rows, and to which more rows can be appended. */
export interface Table {
  readonly header: string;
  readonly formatRows: (view: View, layout: TextLayout) => string;
}

/**
 * Creates a table no wider than `width`. If necessary, it narrows columns, the widest ones first, and truncates their
 * cells. The first column, which identifies the row, is narrowed last.
 * Assumed: if the terminal is too narrow even for that, every row is printed as a record with one line per field. No
 * column is hidden, and every value can be copied. Secrets are never truncated.
 * @param sample the rows that determine the column widths
 */
export function createTable(sample: View, width: number, paint: Paint, layout: TextLayout = narrowLayout): Table {
  const { columns, headings = {}, wholeColumns = [] } = sample;
  const formatCells = (view: View) => view.rows.map((row) => columns.map((column) => formatCell(row[column] ?? null)));
  const headers = columns.map((column) =>
    sanitizeText(headings[column] ?? column)
      .replaceAll("_", " ")
      .toUpperCase(),
  );
  const cells = formatCells(sample);
  const wanted = headers.map((header, at) =>
    cells.reduce((max, row) => Math.max(max, layout.widthOf(row[at] ?? "")), layout.widthOf(header)),
  );
  const isWhole = columns.map((column) => secretColumn.test(column) || wholeColumns.includes(column));
  const widths = shrink(wanted, width - gap.length * (wanted.length - 1), isWhole);
  if (!widths) return { header: "", formatRows: (view, rowLayout) => formatRecords(view, paint, rowLayout) };
  const isNumber = columns.map((column) => isNumeric(sample.rows.map((row) => row[column] ?? null)));
  const formatLine = (texts: readonly string[], lineLayout: TextLayout, tones: readonly (Tone | undefined)[] = []) =>
    texts
      .map((text, at) => {
        const position = { width: widths[at] ?? 0, isRight: isNumber[at] ?? false, isWhole: isWhole[at] ?? false };
        const tone = tones[at];
        return padCell(text, position, lineLayout, tone ? paint[tone] : undefined);
      })
      .join(gap)
      .trimEnd();
  const formatRows = (view: View, rowLayout: TextLayout) =>
    formatCells(view)
      .map((texts, at) => `${formatLine(texts, rowLayout, findTones(view, view.rows[at] ?? {}))}\n`)
      .join("");
  return { header: `${paint.bold(formatLine(headers, layout))}\n`, formatRows };
}

/** Formats a complete table. Returns an empty string if there are no rows. */
export function formatTable(view: View, width: number, paint: Paint, layout: TextLayout = narrowLayout): string {
  if (view.rows.length === 0) return "";
  const table = createTable(view, width, paint, layout);
  return table.header + table.formatRows(view, layout);
}

/** Formats a record as `name  value` lines. Values are never truncated, except timestamps. */
export function formatFields(view: View, paint: Paint, layout: TextLayout = narrowLayout): string {
  const row = view.rows[0] ?? {};
  const widest = Math.max(0, ...view.columns.map((column) => layout.widthOf(column)));
  const tones = findTones(view, row);
  return view.columns
    .map((column, at) => {
      const name = sanitizeText(column).replaceAll("_", " ");
      const padded = `${name}${" ".repeat(Math.max(0, widest - layout.widthOf(name)))}`;
      const value = isolateDirection(formatCell(row[column] ?? null));
      const tone = tones[at];
      return `${paint.dim(padded)}${gap}${tone ? paint[tone](value) : value}`.trimEnd() + "\n";
    })
    .join("");
}

/** Formats every row as a record, separated by empty lines. */
function formatRecords(view: View, paint: Paint, layout: TextLayout): string {
  return view.rows.map((row) => formatFields({ ...view, rows: [row] }, paint, layout)).join("\n");
}

/** Shortens an ISO timestamp to the minute, to save space and so that all commands show the same. */
function formatCell(cell: Cell): string {
  if (cell === null) return "";
  return sanitizeText(String(cell)).replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d(?:\.\d+)?Z$/, "$1 $2Z");
}

function findTones({ columns, tones = {} }: View, row: View["rows"][number]): readonly (Tone | undefined)[] {
  return columns.map((column) => tones[column]?.(row[column] ?? null, row));
}

function isNumeric(cells: readonly Cell[]): boolean {
  return (
    cells.some((cell) => typeof cell === "number") && cells.every((cell) => cell === null || typeof cell === "number")
  );
}

/** Reduces column widths to a total of `available`. Returns undefined if that is not possible. */
function shrink(wanted: readonly number[], available: number, isWhole: readonly boolean[]): number[] | undefined {
  const widths = [...wanted];
  const minWidths = wanted.map((width, at) =>
    isWhole[at] ? width : Math.min(width, at === 0 ? Math.max(minColumnWidth, available / 2) : minColumnWidth),
  );
  for (let total = widths.reduce((sum, width) => sum + width, 0); total > available;) {
    const spare = widths.map((width, at) => (width > (minWidths[at] ?? 0) ? width : 0));
    // Narrow the first column only if no other column can be narrowed.
    const widest = Math.max(0, ...spare.slice(1));
    const at = widest > 0 ? spare.indexOf(widest, 1) : 0;
    if ((spare[at] ?? 0) === 0) return undefined;
    widths[at] = (widths[at] ?? 0) - 1;
    total -= 1;
  }
  return widths;
}

function padCell(
  text: string,
  { width, isRight, isWhole }: { readonly width: number; readonly isRight: boolean; readonly isWhole: boolean },
  layout: TextLayout,
  paint: (text: string) => string = (unpainted) => unpainted,
): string {
  const shown = isWhole ? text : layout.truncate(text, width);
  const padding = " ".repeat(Math.max(0, width - layout.widthOf(shown)));
  const painted = paint(isolateDirection(shown));
  return isRight ? padding + painted : painted + padding;
}
