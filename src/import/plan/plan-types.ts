import type { OutputOf } from "../../service/transport.ts";
import type { Service } from "../../service/service.ts";
import type { CallCounts, ImportDeps, ItemCounts, KindName, RowCounts, RunState } from "../types.ts";
import type { Collision, Found, TwoNames } from "./plan-tally.ts";
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

/** What the service has already of what the files hold. */
export interface There {
  /** Products, orders, codes or addresses of the files that are there. */
  readonly items: number;
  /** Products that are there and would not stay as they are; null for the other kinds. */
  readonly changed: number | null;
  /** Purchases that orders would be given which are there; null for the other kinds. */
  readonly purchases_added: number | null;
}

export type MailForecast = OutputOf<"emails.forecast">;

/** What would happen if files were imported, as scripts see it. */
export interface PlanSummary {
  readonly kind: KindName;
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
  readonly there: There;
  readonly collisions: Found<Collision>;
  readonly names: Found<TwoNames>;
  /** Empty cells that erase what is stored, by column. */
  readonly erased: Readonly<Record<string, number>>;
  /** Null for kinds that mails do not follow. */
  readonly mails: {
    /** Whether the import was asked to. */
    readonly send_mail: boolean;
    /** How many of `if_sent` the import brings about: all or none. */
    readonly sent_by_import: number;
    readonly if_sent: MailForecast | null;
  } | null;
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

export interface PlanDeps extends Omit<ImportDeps, "openService" | "watch"> {
  readonly openRehearsal: (pace: {
    rate?: number | undefined;
    rateShare?: number | undefined;
    /** Ends the reading of what is there. */
    signal: AbortSignal;
  }) => Promise<RehearsedService>;
}
