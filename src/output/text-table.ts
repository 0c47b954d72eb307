import type { Paint } from "./paint.ts";
import type { Cell, View } from "./view.ts";

const gap = "  ";
const narrowest = 8;

/** A table no wider than `width`: the widest columns give way first, and what is cut ends in `…`. */
export function layOutTable(view: View, width: number, paint: Paint): string {
  if (view.rows.length === 0) return "";
  const cells = view.rows.map((row) => view.columns.map((column) => toText(row[column] ?? null)));
  const headers = view.columns.map((column) => column.replaceAll("_", " ").toUpperCase());
  const wanted = headers.map((header, at) =>
    Math.max(header.length, ...cells.map((row) => (row[at] ?? "").length)),
  );
  const widths = shrink(wanted, width - gap.length * (wanted.length - 1));
  const isNumber = view.columns.map((column) => view.rows.every((row) => typeof row[column] === "number"));
  const lines = [headers, ...cells].map((row) =>
    row
      .map((text, at) => fit(text, widths[at] ?? 0, isNumber[at] ?? false))
      .join(gap)
      .trimEnd(),
  );
  return [paint.bold(lines[0] ?? ""), ...lines.slice(1)].map((text) => `${text}\n`).join("");
}

/** A record as `name  value` lines; values are never cut. */
export function layOutFields(view: View, paint: Paint): string {
  const row = view.rows[0] ?? {};
  const widest = Math.max(0, ...view.columns.map((column) => column.length));
  return view.columns
    .map((column) => {
      const name = paint.dim(column.replaceAll("_", " ").padEnd(widest));
      return `${name}${gap}${toText(row[column] ?? null)}`.trimEnd() + "\n";
    })
    .join("");
}

/** Control characters that a file brought must not reach a terminal. */
export function toText(cell: Cell): string {
  return cell === null ? "" : String(cell).replaceAll(/\p{Cc}/gu, " ");
}

function shrink(wanted: readonly number[], room: number): number[] {
  const widths = [...wanted];
  for (;;) {
    const total = widths.reduce((sum, width) => sum + width, 0);
    const widest = Math.max(...widths);
    if (total <= room || widest <= narrowest) return widths;
    widths[widths.indexOf(widest)] = widest - 1;
  }
}

function fit(text: string, width: number, isRight: boolean): string {
  const shown = text.length > width ? `${text.slice(0, width - 1)}…` : text;
  return isRight ? shown.padStart(width) : shown.padEnd(width);
}
