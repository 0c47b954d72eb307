import type { OutcomeCounts } from "./undo-store.ts";
import type { UndoneRow } from "./undo-rows.ts";

export interface UndoRequest {
  /** Counts only: nothing is changed, and nothing kept. */
  readonly isPlan: boolean;
  readonly rate?: number | undefined;
  readonly rateShare?: number | undefined;
  /** Rows that are given back one by one; all are in the file. */
  readonly mostListed: number;
  /** Whether only rows that were not reversed are listed, where not all can be. */
  readonly listsExceptions: boolean;
  /** Asks before anything is sent. @throws where the answer is no */
  readonly confirm: (counts: UndoQuestion) => Promise<void>;
}

/** What a person decides by. */
export interface UndoQuestion extends OutcomeCounts {
  readonly import_id: string;
  readonly kind: string;
}

export interface UndoneRun extends OutcomeCounts {
  import_id: string;
  kind: string;
  /** `planned`: nothing was sent. `earlier`: it was undone before, and this is what came of it. */
  state: "planned" | "finished" | "interrupted" | "earlier";
  /** The first rows; all are in the file. */
  rows: UndoneRow[];
  rows_file: string | null;
  /** Rows that were rejected, failed, or never sent. */
  rows_not_taken: number;
  calls: number;
  duration_ms: number;
}
