import type { Service } from "../../service/service.ts";
import type { CallCounts, ItemCounts, RowCounts, RunState } from "../summary.ts";
import type { ImportContext } from "../context.ts";
import type { ImportOptions } from "../options.ts";
import type { PlanDetails } from "./plan-behavior.ts";
import type { Collision, Found, ConflictingNames } from "./plan-tally.ts";
import type { Repeated } from "./watched-ids.ts";

/** Rows that would not be taken, for one reason. */
export interface RejectGroup {
  readonly code: string;
  /** As the file has it; empty where the problem is with the whole row. */
  readonly column: string;
  readonly reason: string;
  readonly count: number;
  /** `file:line:column (value)`. */
  readonly first: string;
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

/** What would happen if files were imported, as scripts see it. */
export interface PlanSummary {
  readonly kind: string;
  readonly files: readonly string[];
  readonly profile: string;
  readonly target: string;
  /** How the rehearsal ended; what it says is whole only where it is `finished`. */
  readonly state: RunState;
  readonly rows: RowCounts;
  readonly items: ItemCounts;
  readonly calls: CallCounts;
  readonly time: {
    /** Calls a second; null where nothing limits them. */
    readonly rate: number | null;
    /** What the calls take at that rate, or, where there is none, what the rehearsal took. */
    readonly ms: number;
  };
  readonly rejects: readonly RejectGroup[];
  readonly rejects_file: string | null;
  readonly repeated: Repeated;
  readonly there: StoredCounts;
  readonly collisions: Found<Collision>;
  readonly names: Found<ConflictingNames>;
  /** Empty cells that erase what is stored, by column. */
  readonly erased: Readonly<Record<string, number>>;
  /** Null for kinds whose import causes no emails. */
  readonly mails: PlanDetails["mails"] | null;
  /** What could not be found out, and was left out of account. */
  readonly not_known: readonly string[];
  readonly created_at: string;
  readonly duration_ms: number;
  readonly plan_file: string | null;
}

/** A service that answers as the profile's would, and of which nothing stays. */
export interface RehearsedService {
  readonly service: Service;
  readonly concurrency: number;
  readonly keepsOrder: boolean;
  /** Calls a second that the service itself would be given; nothing where they are not paced. */
  readonly ratePerSecond: number | undefined;
  /** What of the account it could not be given. */
  readonly notKnown: readonly string[];
  close(): Promise<void>;
}

export interface PlanDeps extends ImportContext {
  readonly openRehearsal: (pace: {
    rate?: number | undefined;
    rateShare?: number | undefined;
    /** Ends the reading of what is there. */
    signal: AbortSignal;
  }) => Promise<RehearsedService>;
}
