export interface ReportedRun {
  readonly summary: {
    readonly import_id: string | null;
    readonly kind: string;
    readonly state: "running" | "finished" | "interrupted" | "stopped" | "failed";
    readonly rows: Counts<"read" | "accepted" | "rejected" | "failed">;
    readonly items: Counts<"accepted"> & Readonly<Record<"created" | "changed" | "unchanged", number | null>>;
    readonly calls: Counts<"sent" | "retried" | "throttled">;
    readonly started_at: string;
    readonly duration_ms: number;
    readonly rejects_file: string | null;
  };
  readonly profile: string;
  readonly target: string;
  readonly version: string;
  readonly ended_at: string | null;
  readonly options: Readonly<Record<string, string>>;
  readonly files: readonly {
    readonly file: string;
    readonly size_bytes: number;
    readonly sha256: string;
    readonly encoding: string;
  }[];
  readonly reasons: readonly ReportedReason[];
  readonly rows_without_reason: number;
  readonly timeline: ReportedTimeline;
  readonly verified: {
    readonly at: string | null;
    readonly checked: { readonly rows: number };
    readonly missing_count: number;
    /** Absent from the verifications of older versions. */
    readonly different_count?: number;
  } | null;
  readonly undone: {
    readonly state: "running" | "finished";
    readonly started_at: string;
    readonly finished_at: string | null;
    readonly reversed: number;
    readonly kept: number;
    readonly impossible: number;
  } | null;
}

type Counts<N extends string> = Readonly<Record<N, number>>;

export interface ReportedReason {
  readonly code: string;
  readonly message: string | null;
  readonly column: string;
  readonly rows: number;
  readonly means: string | null;
  readonly hint: string | null;
  readonly examples: readonly {
    readonly file: string | null;
    readonly line: number;
    /** `line`, `row` of a spreadsheet, or `element` of a JSON file. */
    readonly unit: string;
    readonly value: string | null;
    readonly reason: string;
  }[];
}

/** Times are in milliseconds since 1970. Values that the journal of the run does not contain are null. */
export interface ReportedTimeline {
  readonly intervalMs: number;
  readonly points: readonly ReportedPoint[];
  readonly attempts: readonly {
    readonly from: number;
    readonly to: number;
    readonly rows: number;
    readonly isEnded: boolean;
  }[];
  readonly hasHeartbeats: boolean;
}

export interface ReportedPoint {
  readonly at: number;
  readonly rows: number;
  readonly calls: number;
  readonly retried: number | null;
  readonly throttled: number | null;
  readonly waits: Counts<"pace" | "throttled" | "retry"> | null;
}
