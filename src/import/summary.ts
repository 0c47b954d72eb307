export type RunState = "running" | "finished" | "interrupted" | "stopped" | "failed";

/** `read = accepted + rejected + failed`, always. */
export interface RowCounts {
  read: number;
  accepted: number;
  rejected: number;
  failed: number;
}

export interface CallCounts {
  sent: number;
  retried: number;
  throttled: number;
}

export interface ItemCounts {
  sent: number;
  accepted: number;
  rejected: number;
}

/** One run, including all its resumes, in the form that scripts read. */
export interface ImportSummary {
  import_id: string | null;
  kind: string;
  files: string[];
  state: RunState;
  rows: RowCounts;
  items: ItemCounts;
  calls: CallCounts;
  started_at: string;
  duration_ms: number;
  rejects_file: string | null;
  /** The IDs that were rewritten; present only if there are any. */
  fixed_ids_file?: string;
  /** Present only if the import was asked to verify its result. */
  verified?: Verification;
}

/** A row of a run that the service does not hold, with the IDs that the wire format uses for it. */
export interface MissingRow {
  readonly file: string;
  readonly line: number;
  readonly column: string;
  readonly reason: string;
  readonly [id: string]: string | number;
}

/** The result of reading back a run. */
export interface Verification {
  /** `interrupted` if reading back did not finish; the counts are then zero. */
  state: "finished" | "interrupted";
  checked: { rows: number; items: number };
  /** The first missing rows; the file has all of them. */
  missing: MissingRow[];
  missing_count: number;
  missing_file: string | null;
  /** Rows that were rejected, failed, or never sent. */
  rows_not_looked_for: number;
  calls: number;
  duration_ms: number;
}
