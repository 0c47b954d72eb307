import type { Service } from "../../service/service.ts";
import type { CallCounts, ItemCounts, RowCounts, RunState } from "../summary.ts";
import type { ImportContext } from "../context.ts";
import type { ImportOptions } from "../options.ts";
import type { PlanDetails } from "./plan-behavior.ts";
import type { Collision, Found, ConflictingNames } from "./plan-tally.ts";

/** Rows that would be rejected for the same reason. */
export interface RejectGroup {
  readonly code: string;
  /** The header of the column; empty if the error concerns the entire row. */
  readonly column: string;
  readonly reason: string;
  readonly count: number;
  /** `file:line:column (value)`. */
  readonly first: string;
}

/** Rows that name a record which an earlier row named. */
export interface Repeated {
  rows: number;
  /** `file:line` of the first. */
  first: string | null;
}

/** What the service already has of the files' records. */
export interface StoredCounts {
  /** Records of the files that are already stored. */
  readonly items: number;
  /** Stored products that would change; null for other kinds. */
  readonly changed: number | null;
  /** Purchases that would be added to stored orders; null for other kinds. */
  readonly purchases_added: number | null;
}

export interface PlanRequest {
  readonly kind: string;
  readonly files: readonly string[];
  readonly options: ImportOptions;
  /** The file in which the plan is saved for `imports apply`. */
  readonly out: string | undefined;
}

/** What would happen if files were imported, in the form that scripts read. */
export interface PlanSummary {
  readonly kind: string;
  readonly files: readonly string[];
  readonly profile: string;
  readonly target: string;
  /** How the rehearsal ended; the plan is complete only if it is `finished`. */
  readonly state: RunState;
  readonly rows: RowCounts;
  readonly items: ItemCounts;
  readonly calls: CallCounts;
  readonly time: {
    /** Calls per second; null if they are not limited. */
    readonly rate: number | null;
    /** How long the calls take at that rate; without a rate, how long the rehearsal took. */
    readonly ms: number;
  };
  readonly rejects: readonly RejectGroup[];
  readonly rejects_file: string | null;
  readonly repeated: Repeated;
  readonly there: StoredCounts;
  readonly collisions: Found<Collision>;
  readonly names: Found<ConflictingNames>;
  /** Empty cells that erase the stored value, by column. */
  readonly erased: Readonly<Record<string, number>>;
  /** Null for kinds whose import causes no emails. */
  readonly mails: PlanDetails["mails"] | null;
  /** What could not be read from the account. */
  readonly not_known: readonly string[];
  readonly created_at: string;
  readonly duration_ms: number;
  readonly plan_file: string | null;
}

/** A copy of the profile's account that is discarded afterward. */
export interface RehearsedService {
  readonly service: Service;
  readonly concurrency: number;
  readonly keepsOrder: boolean;
  /** Calls per second to the service itself; undefined if they are not paced. */
  readonly ratePerSecond: number | undefined;
  /** What could not be copied from the account. */
  readonly notKnown: readonly string[];
  close(): Promise<void>;
}

export interface PlanDeps extends ImportContext {
  readonly openRehearsal: (pace: {
    rate?: number | undefined;
    rateShare?: number | undefined;
    /** Cancels copying the account. */
    signal: AbortSignal;
  }) => Promise<RehearsedService>;
}
