import type { ImportDeps } from "../../../import/deps.ts";
import type { ImportOptions } from "../../../import/options.ts";
import type { RunState } from "../../../import/summary.ts";

export interface SyncRequest {
  readonly files: readonly string[];
  /** The email type of the list to synchronize. */
  readonly emailType: string;
  readonly options: ImportOptions;
  /** Whether to only report what would be done. */
  readonly isPlan: boolean;
  /** Maximum number of people who may be resubscribed. */
  readonly maxResubscribe: number;
}

/** What a sync did or would do, in the form that scripts read. */
export interface SyncSummary {
  /** Names the folder with its record; null for a plan. */
  sync_id: string | null;
  type: number;
  files: string[];
  /** `planned`, or the final state of its runs. */
  state: RunState | "planned";
  /** Unsubscribed because only the files have them. */
  added: number;
  /** Resubscribed because only the service has them. */
  removed: number;
  unchanged: number;
  /** Not in the files, but unsubscribed by the person. */
  cannot_be_removed: string[];
  /** Not resubscribed because rows were rejected, which may name them. */
  withheld: number;
  /** Changes that the service did not accept, or whose outcome is unknown. */
  not_done: number;
  /** Addresses in the files with other types. */
  passed_over: number;
  rejected: number;
  rejects_file: string | null;
  /** In a plan, the first addresses to be added and removed. */
  to_add?: string[];
  to_remove?: string[];
  /** The IDs of its runs, as in `imports list`. */
  imports: string[];
  started_at: string;
  finished_at: string;
}

export interface SyncDeps extends ImportDeps {
  /**
   * Asks for confirmation before the list is changed: people who are removed from it receive emails again.
   * @throws the error that ends the sync if the answer is no
   */
  readonly approve: (change: Pick<SyncSummary, "added" | "removed">) => Promise<void>;
}
