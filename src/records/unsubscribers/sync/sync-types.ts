import type { ImportDeps } from "../../../import/deps.ts";
import type { ImportOptions } from "../../../import/options.ts";
import type { RunState } from "../../../import/summary.ts";

export interface SyncRequest {
  readonly files: readonly string[];
  /** The email type whose list is to match. */
  readonly emailType: string;
  readonly options: ImportOptions;
  /** Whether only what would be done is told. */
  readonly isPlan: boolean;
  /** The most people who may get mails again. */
  readonly maxResubscribe: number;
}

/** What a sync did, or would do, as scripts see it. */
export interface SyncSummary {
  /** Names the folder with its record; nothing of a plan. */
  sync_id: string | null;
  type: number;
  files: string[];
  /** `planned`, or how the runs of it ended. */
  state: RunState | "planned";
  /** Unsubscribed, since the file has them and the service had not. */
  added: number;
  /** Taken off the service's list, since the file has them not: they get mails again. */
  removed: number;
  unchanged: number;
  /** Not in the file, and unsubscribed by themselves. */
  cannot_be_removed: string[];
  /** Not taken off because rows of the file were rejected: one of those may be among them. */
  withheld: number;
  /** What the service did not take, or nobody knows of. */
  not_done: number;
  /** Addresses of other types in the files. */
  passed_over: number;
  /** Rows. */
  rejected: number;
  rejects_file: string | null;
  /** The first of those that are added and removed, in a plan. */
  to_add?: string[];
  to_remove?: string[];
  /** The runs that did it, of `imports list`. */
  imports: string[];
  started_at: string;
  finished_at: string;
}

export interface SyncDeps extends ImportDeps {
  /**
   * Asks before the list is changed: who is taken off it gets mails again.
   * @throws what ends the sync where the answer is no
   */
  readonly approve: (change: Pick<SyncSummary, "added" | "removed">) => Promise<void>;
}
