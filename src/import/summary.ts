export const runStates = ["running", "finished", "interrupted", "stopped", "failed"] as const;
export type RunState = (typeof runStates)[number];

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

/**
 * `accepted = created + changed + unchanged`. These three are null if the service did not report the outcome of every
 * accepted item, and if nothing was sent.
 */
export interface ItemCounts {
  sent: number;
  accepted: number;
  rejected: number;
  created: number | null;
  changed: number | null;
  unchanged: number | null;
  /**
   * How many of the unchanged items the run itself may have created or changed, because an earlier request of their call
   * got no response. Present only if there are any.
   */
  unchanged_on_repeat?: number;
  /** How many accepted items got a value that the import made, by field. Present only if there are any. */
  filled?: Readonly<Record<string, number>>;
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
  readonly [id: string]: string | number | null;
}

/** A value of a row that differs from the one that the service holds. */
export interface DifferentValue extends MissingRow {
  readonly expected: string | null;
  readonly stored: string | null;
}

/** The result of reading back a run. */
export interface Verification {
  /** `interrupted` if reading back did not finish; the counts are then zero. */
  state: "finished" | "interrupted";
  checked: { rows: number; items: number };
  /** The first missing rows; the file has all of them. */
  missing: MissingRow[];
  missing_count: number;
  /** The first values that differ, one per row and field. */
  different: DifferentValue[];
  different_count: number;
  /** The file with the missing rows and those with different values. */
  missing_file: string | null;
  /** Rows that were rejected, failed, or never sent. */
  rows_not_looked_for: number;
  calls: number;
  duration_ms: number;
}
