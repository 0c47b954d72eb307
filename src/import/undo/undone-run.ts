import type { OutcomeCounts } from "./undo-store.ts";
import type { UndoneRow } from "./undo-rows.ts";

export interface UndoRequest {
  /** Only counts: changes and stores nothing. */
  readonly isPlan: boolean;
  readonly rate?: number | undefined;
  readonly rateShare?: number | undefined;
  /** The maximum number of rows to return; the file has all of them. */
  readonly maxListed: number;
  /** Whether to list only rows that were not undone if there are too many. */
  readonly listsExceptions: boolean;
  /**
   * Asks for confirmation before anything is sent.
   * @throws if the answer is no
   */
  readonly confirm: (counts: UndoQuestion) => Promise<void>;
}

/** What the confirmation prompt shows. */
export interface UndoQuestion extends OutcomeCounts {
  readonly import_id: string;
  readonly kind: string;
}

export interface UndoneRun extends OutcomeCounts {
  import_id: string;
  kind: string;
  /** `planned`: nothing was sent. `earlier`: the run was undone before, and this is the outcome. */
  state: "planned" | "finished" | "interrupted" | "earlier";
  /** The first rows; the file has all of them. */
  rows: UndoneRow[];
  rows_file: string | null;
  /** Rows that were rejected, failed, or never sent. */
  rows_not_taken: number;
  calls: number;
  duration_ms: number;
}
