import type { CallCounts, RowCounts } from "./summary.ts";

/** Rows that were rejected or failed for the same reason. */
export interface RejectReason {
  readonly code: string;
  readonly count: number;
  /** The number of items, with their name, if several rows belong to one: `3 orders`. */
  readonly items?: string | undefined;
  /** The column as the file names it; empty if the reason concerns the entire row. */
  readonly column: string;
  /** What is wrong, as a predicate of the column: `has no @`. */
  readonly reason: string;
  /** How to fix it. */
  readonly hint: string | undefined;
  /** The first of the rows. */
  readonly file: string;
  readonly line: number;
  /** File and line, as messages name them. */
  readonly place: string;
  /** The shortened value of its cell; empty if the problem concerns no cell. */
  readonly value: string;
}

export type ImportEvent =
  | { readonly type: "notice"; readonly message: string }
  /** From now on, the run is recorded and can be resumed. */
  | { readonly type: "begun"; readonly importId: string }
  /** Why rows were rejected or failed, most frequent first; reported at the end of a run. */
  | { readonly type: "rejects"; readonly reasons: readonly RejectReason[] }
  | {
      readonly type: "progress";
      readonly rows: RowCounts;
      readonly calls: CallCounts;
      readonly rowsTotal?: number | undefined;
      /** Whether an earlier attempt has done everything counted so far; a resume reads it again and sends nothing. */
      readonly isReplay: boolean;
    }
  | { readonly type: "wait"; readonly message: string; readonly ms: number }
  /** Files are being read and nothing is sent. */
  | {
      readonly type: "reading";
      readonly doing: "keeping" | "converting" | "checking" | "again";
      readonly file: string;
      readonly rows?: number;
      readonly bytes?: number;
    }
  /** How many of the service's records have been read. */
  | { readonly type: "readBack"; readonly records: number; readonly calls: number };

export type ReportEvent = (event: ImportEvent) => void;
