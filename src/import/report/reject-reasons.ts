import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { readFileHead } from "../csv/file-format.ts";
import { readRowBatches } from "../csv/row-batches.ts";
import { rejectColumns } from "../mapping/names.ts";
import { type RejectCode, rejectCodes } from "../check/reject-codes.ts";
import type { FormatFlags } from "../run/reject-file.ts";

/** Rows that were rejected for the same reason in the same column. */
export interface RejectReason {
  readonly code: string;
  /** The header of the column; empty if the error concerns the entire row. */
  readonly column: string;
  readonly rows: number;
  /** What the code means and how to fix the row; null if unknown. */
  readonly means: string | null;
  readonly hint: string | null;
  readonly examples: readonly RejectExample[];
}

export interface RejectExample {
  readonly line: number;
  /** The invalid cell, shortened; null if the entire row is invalid. */
  readonly value: string | null;
  readonly reason: string;
}

/** Maximum number of examples per reason. */
const maxExamples = 5;
/** Maximum number of different reasons. */
const maxReasons = 200;
const longestValue = 120;

/**
 * Reads the reasons in the reject files of a run's folder, most frequent first.
 * @throws FileFormatError and file system errors
 */
export function readRejectReasons(
  folder: string,
  { delimiter, encoding }: FormatFlags,
  kindCodes: Readonly<Record<string, RejectCode>> = {},
): RejectReason[] {
  const codes = { ...rejectCodes, ...kindCodes };
  const reasons = new Map<string, Counted>();
  const names = existsSync(folder) ? readdirSync(folder) : [];
  for (const name of names.filter((found) => /^rejects(?:-\d+)?\.csv$/.test(found)).toSorted()) {
    const head = readFileHead(join(folder, name), { delimiter, encoding });
    const [line = -1, column = -1, code = -1, reason = -1] = rejectColumns.map((own) => head.header.lastIndexOf(own));
    for (const { rows } of readRowBatches(head.source, head.format, undefined)) {
      for (const cells of rows) {
        const at = (found: number) => cells[found] ?? "";
        const found = { line: Number(at(line)), column: at(column), code: at(code), reason: at(reason) };
        const value = found.column === "" ? null : at(head.header.indexOf(found.column));
        count(reasons, { ...found, ...describeCode(codes[found.code]) }, value);
      }
    }
  }
  return [...reasons.values()].toSorted((a, b) => b.rows - a.rows);
}

interface RejectedRow extends Pick<RejectReason, "column" | "code" | "means" | "hint"> {
  readonly line: number;
  readonly reason: string;
}

function describeCode({ means, hint }: Partial<RejectCode> = {}): Pick<RejectReason, "means" | "hint"> {
  return { means: means ?? null, hint: hint ?? null };
}

type Counted = Omit<RejectReason, "examples" | "rows"> & { rows: number; readonly examples: RejectExample[] };

function count(
  reasons: Map<string, Counted>,
  { line, column, code, reason, means, hint }: RejectedRow,
  value: string | null,
): void {
  const key = JSON.stringify([code, column]);
  const known = reasons.get(key);
  // A file may have any number of columns, but there are few codes.
  if (!known && column !== "" && reasons.size >= maxReasons) {
    return count(reasons, { line, column: "", code, reason, means, hint }, null);
  }
  const counted: Counted = known ?? { code, column, rows: 0, means, hint, examples: [] };
  if (!known) reasons.set(key, counted);
  counted.rows++;
  // A repeated value adds nothing.
  if (counted.examples.length >= maxExamples) return;
  const shown = value === null ? null : shorten(value);
  if (counted.examples.some((example) => example.value === shown && example.reason === reason)) return;
  counted.examples.push({ line, value: shown, reason: shorten(reason) });
}

function shorten(value: string): string {
  if (value.length <= longestValue) return value;
  const start = value.slice(0, longestValue);
  // Avoids splitting a surrogate pair.
  return `${start.isWellFormed() ? start : start.slice(0, -1)}…`;
}
