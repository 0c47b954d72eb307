import type { CallCounts, RowCounts } from "./summary.ts";

export type ImportEvent =
  | { readonly type: "notice"; readonly message: string }
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
      readonly doing: "keeping" | "checking" | "again";
      readonly file: string;
      readonly rows?: number;
      readonly bytes?: number;
    }
  /** How many of the service's records have been read. */
  | { readonly type: "readBack"; readonly records: number; readonly calls: number };

export type ReportEvent = (event: ImportEvent) => void;
