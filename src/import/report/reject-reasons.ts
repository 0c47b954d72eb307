import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { readFileHead, type RecordUnit } from "../csv/file-format.ts";
import { readRowBatches } from "../csv/row-batches.ts";
import { rejectColumns, shorten } from "../mapping/names.ts";
import { type RejectCode, rejectCodes } from "../check/reject-codes.ts";
import type { FormatFlags } from "../run/reject-file.ts";

/** Rows that were rejected for the same reason in the same column. */
export interface RejectReason {
  readonly code: string;
  /** The service's own message, if the code does not explain it; null for other codes. */
  readonly message: string | null;
  /** The header of the column; empty if the error concerns the entire row. */
  readonly column: string;
  readonly rows: number;
  /** What the code means and how to fix the row; null if unknown. */
  readonly means: string | null;
  readonly hint: string | null;
  readonly examples: readonly RejectExample[];
}

export interface RejectExample {
  /** The input file; null for a run with a single file. */
  readonly file: string | null;
  /** The number of the line, the row of a spreadsheet, or the element of a JSON file, from 1. */
  readonly line: number;
  readonly unit: RecordUnit;
  /** The invalid cell, shortened; null if the entire row is invalid. */
  readonly value: string | null;
  /** Without the hint and the name of the file. */
  readonly reason: string;
}

/** An input file of a run. */
interface RejectedFile {
  /** As given; reasons name it if there are several. */
  readonly given: string;
  readonly unit: RecordUnit;
}

/** Maximum number of examples per reason. */
const maxExamples = 5;
/** Maximum number of different reasons, which bounds the memory; further ones are counted by code. */
const maxReasons = 10_000;
const longestValue = 120;

/** Codes whose meaning only the service's message states. */
const codesWithMessage: ReadonlySet<string> = new Set(["refused", "call_refused"]);

/**
 * Reads the reasons in the reject files of a run's folder, most frequent first.
 * @throws FileFormatError and file system errors
 */
export function readRejectReasons(
  folder: string,
  { delimiter, encoding }: FormatFlags,
  { files, kindCodes = {} }: { readonly files: readonly RejectedFile[]; readonly kindCodes?: RejectCodes | undefined },
): RejectReason[] {
  const codes = { ...rejectCodes, ...kindCodes };
  const hints = new Set(Object.values(codes).flatMap(({ hint }) => (hint === undefined ? [] : `; ${hint}`)));
  const reasons = new Map<string, Counted>();
  const names = existsSync(folder) ? readdirSync(folder) : [];
  // `rejects-2.csv` precedes `rejects-10.csv`.
  const inOrder = names.toSorted((a, b) => a.length - b.length || (a < b ? -1 : 1));
  for (const name of inOrder.filter((found) => /^rejects(?:-\d+)?\.csv$/.test(found))) {
    const head = readFileHead(join(folder, name), { delimiter, encoding });
    const [line = -1, column = -1, code = -1, reason = -1] = rejectColumns.map((own) => head.header.lastIndexOf(own));
    for (const { rows } of readRowBatches(head.source, head.format, undefined)) {
      for (const cells of rows) {
        const at = (found: number) => cells[found] ?? "";
        const { means = null, hint = null } = codes[at(code)] ?? {};
        const about = { code: at(code), column: at(column), means, hint };
        const value = about.column === "" ? null : at(head.header.indexOf(about.column));
        count(reasons, about, { ...splitReason(at(reason), hints, files), line: Number(at(line)), value });
      }
    }
  }
  return [...reasons.values()].toSorted((a, b) => b.rows - a.rows);
}

type RejectCodes = Readonly<Record<string, RejectCode>>;

type AboutReason = Pick<RejectReason, "column" | "code" | "means" | "hint">;

/** Separates the file and the hints, which the reject file adds, from the reason. A row with several errors has several. */
function splitReason(
  text: string,
  hints: ReadonlySet<string>,
  files: readonly RejectedFile[],
): Pick<RejectExample, "file" | "unit" | "reason"> {
  const found = files.length > 1 ? files.find(({ given }) => text.startsWith(`${given}: `)) : undefined;
  const { unit = "line" } = found ?? files[0] ?? {};
  const file = found?.given ?? null;
  let reason = file === null ? text : text.slice(file.length + 2);
  for (;;) {
    const end = [...hints].find((hint) => reason.endsWith(hint));
    if (end === undefined) return { file, unit, reason };
    reason = reason.slice(0, -end.length);
  }
}

type Counted = Omit<RejectReason, "examples" | "rows"> & { rows: number; readonly examples: RejectExample[] };

function count(reasons: Map<string, Counted>, about: AboutReason, example: RejectExample): void {
  const { code, column } = about;
  const message = codesWithMessage.has(code) ? shorten(example.reason, longestValue) : null;
  const key = JSON.stringify([code, column, message]);
  const isNew = !reasons.has(key);
  // A file may have any number of columns, and a service any number of messages, but there are few codes.
  const isTooMany = isNew && reasons.size >= maxReasons;
  const countedAs = isTooMany ? JSON.stringify([code]) : key;
  const own = isTooMany ? { ...about, column: "", message: null } : { ...about, message };
  const counted = reasons.get(countedAs) ?? { ...own, rows: 0, examples: [] };
  reasons.set(countedAs, counted);
  counted.rows++;
  // A repeated value adds nothing.
  if (counted.examples.length >= maxExamples) return;
  const value = isTooMany || example.value === null ? null : shorten(example.value, longestValue);
  if (counted.examples.some((other) => other.value === value && other.reason === example.reason)) return;
  counted.examples.push({ ...example, value, reason: shorten(example.reason, longestValue) });
}
