import { resolve } from "node:path";
import { type FileHead, readFileHead } from "../csv/file-format.ts";
import type { RecordProblem } from "../csv/record-scanner.ts";
import { readRowBatches } from "../csv/row-batches.ts";
import type { SourceRow } from "../item.ts";
import { RejectFile } from "../run/reject-file.ts";
import { namingFile } from "./located-files.ts";

/** A CSV file that fits into memory, for commands that are not imports. */
export interface SmallTable {
  readonly head: FileHead;
  readonly rows: readonly SmallRow[];
}

export interface SmallRow extends SourceRow {
  /** The trimmed cells, by the names of their columns in lower case. */
  readonly values: Readonly<Record<string, string>>;
  /** Why the row could not be read. */
  readonly problem?: RecordProblem | undefined;
}

/** @throws ImportError if the file cannot be read */
export function readSmallTable(given: string, cwd: string): SmallTable {
  return namingFile(given, () => {
    const head = readFileHead(resolve(cwd, given), {});
    const names = head.header.map((name) => name.trim().toLowerCase());
    const rows: SmallRow[] = [];
    for (const batch of readRowBatches(head.source, head.format, undefined)) {
      for (const [at, cells] of batch.rows.entries()) {
        const values = Object.fromEntries(names.map((name, column) => [name, (cells[column] ?? "").trim()]));
        rows.push({ file: 0, line: batch.lines[at] ?? 0, cells, values, problem: batch.problems.get(at) });
      }
    }
    return { head, rows };
  });
}

/** A row that was not used, and why. */
export interface SmallReject {
  readonly row: SmallRow;
  readonly column: string;
  readonly code: string;
  readonly reason: string;
}

/** Writes rows in the format of their file, with the columns that reject files of imports have. */
export function writeSmallRejects(path: string, { head }: SmallTable, rejects: readonly SmallReject[]): void {
  const { header, format } = head;
  const file = new RejectFile(path, [{ header, format, fieldOf: () => undefined, group: "" }], {});
  for (const { row, ...place } of rejects) file.add(row, place);
  file.close(true);
}
