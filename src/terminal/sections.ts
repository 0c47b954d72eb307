import { narrowLayout } from "./text-layout.ts";

/** A title, rows of cells that are aligned in columns, and lines after them. */
export interface Section {
  readonly title?: string;
  readonly rows: readonly (readonly string[])[];
  readonly notes?: readonly string[];
}

interface Alignment {
  /** Default: two spaces. */
  readonly indent?: string;
  /** The index of a column of numbers. */
  readonly rightColumn?: number;
  /** The least width of the first column. */
  readonly minWidth?: number;
  /** Longer lines are truncated. */
  readonly maxWidth?: number;
  /** Whether the columns of all sections are aligned with each other. */
  readonly isShared?: boolean;
}

/** The lines of sections that have rows or notes, with an empty line between them. */
export function formatSections(sections: readonly Section[], alignment: Alignment = {}): string[] {
  const shown = sections.filter(({ rows, notes = [] }) => rows.length + notes.length > 0);
  const measured = alignment.isShared ? shown.flatMap(({ rows }) => rows) : undefined;
  const lines: string[] = [];
  for (const { title, rows, notes = [] } of shown) {
    if (lines.length > 0) lines.push("");
    if (title !== undefined) lines.push(title);
    lines.push(...alignRows(rows, alignment, measured), ...notes);
  }
  return lines;
}

/**
 * Indented lines with aligned columns, without those that are empty in every row.
 * @param measured the rows that determine the widths of the columns
 */
export function alignRows(
  rows: readonly (readonly string[])[],
  { indent = "  ", rightColumn, minWidth = 0, maxWidth = Number.POSITIVE_INFINITY }: Alignment = {},
  measured = rows,
): string[] {
  const count = Math.max(0, ...measured.map((row) => row.length));
  const widths = Array.from({ length: count }, (_, column) =>
    Math.max(column === 0 ? minWidth : 0, ...measured.map((row) => narrowLayout.widthOf(row[column] ?? ""))),
  );
  return rows.map((row) => {
    const cells = widths.flatMap((wanted, column) => {
      const cell = row[column] ?? "";
      if (wanted === 0) return [];
      return [column === rightColumn ? cell.padStart(wanted) : cell.padEnd(wanted)];
    });
    return narrowLayout.truncate(`${indent}${cells.join("  ")}`.trimEnd(), maxWidth);
  });
}
