import type { Readable } from "node:stream";
import type { Service } from "../service/service.ts";
import type { Books } from "./run/tally.ts";
import type { InputFile } from "./source/input-files.ts";
import type { Importing } from "./kind.ts";

export const kindNames = ["products", "orders", "coupons", "unsubscribers", "reviews"] as const;
export type KindName = (typeof kindNames)[number];

/** What the person asked of one import; kept in the run's manifest, so that a resume asks the same. */
export interface ImportOptions {
  dryRun: boolean;
  /** Items a call; the contract's recommended number where absent. */
  batchSize?: number | undefined;
  concurrency?: number | undefined;
  /** Calls a second; 0 is no pacing. */
  rate?: number | undefined;
  maxErrors?: { count: number } | { percent: number } | undefined;
  /** Field to column. */
  map: Record<string, string>;
  delimiter?: string | undefined;
  encoding?: string | undefined;
  rejects?: string | undefined;
  update?: boolean | undefined;
  platform?: string | undefined;
  /** False is `--no-validate`. */
  validate?: boolean | undefined;
  action?: string | undefined;
  emailType?: string | undefined;
  remove?: boolean | undefined;
  /** The layout of the files by name, or `none`; recognised from the header where absent. */
  layout?: string | undefined;
  /** A product's address where the file has none: `https://shop.example/p/{product_id}`. */
  productUrl?: string | undefined;
  /** Field to the value that rows have which bring none of their own. */
  set?: Record<string, string> | undefined;
  /** The mapping file that columns and values were taken from, its content being in the other options by then. */
  mapping?: string | undefined;
  /** Whether ids that the service would drop are put right as proposed. */
  fixIds?: boolean | undefined;
  /** What an empty cell of an optional field means; `keep` where absent. */
  empty?: EmptyCells | undefined;
  /** The part of the service's rate that the run may take, above 0 up to 1. */
  rateShare?: number | undefined;
  /** Whether the run keeps what it overwrites, so that it can be put back. */
  undoable?: boolean | undefined;
  /** Whether what was taken is read back at the end. */
  verify?: boolean | undefined;
  /** Whether the customers of orders are asked for reviews; orders are past ones where absent. */
  sendMail?: boolean | undefined;
}

/** What an empty cell does: nothing, erase what is stored, or reject its row. */
export const emptyCells = ["keep", "clear", "error"] as const;
export type EmptyCells = (typeof emptyCells)[number];

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

/** One run as scripts see it: all its resumes together. */
export interface ImportSummary {
  import_id: string | null;
  kind: KindName;
  files: string[];
  state: RunState;
  rows: RowCounts;
  items: ItemCounts;
  calls: CallCounts;
  started_at: string;
  duration_ms: number;
  rejects_file: string | null;
  /** The pairs of ids that were put right, where there are any. */
  fixed_ids_file?: string;
  /** Where the import was asked to read back what was taken. */
  verified?: Verification;
}

/** A row of a run that was not found again; with the ids that the wire knows it by. */
export interface MissingRow {
  readonly file: string;
  readonly line: number;
  readonly column: string;
  readonly reason: string;
  readonly [id: string]: string | number;
}

/** What came of reading back what a run said. */
export interface Verification {
  /** `interrupted` before it was known: then nothing is said of what is missing. */
  state: "finished" | "interrupted";
  /** What was looked for. */
  checked: { rows: number; items: number };
  /** The first of them; all are in the file. */
  missing: MissingRow[];
  missing_count: number;
  missing_file: string | null;
  /** Rows that were rejected, failed, or never sent. */
  rows_not_looked_for: number;
  calls: number;
  duration_ms: number;
}

export type ImportEvent =
  | { readonly type: "notice"; readonly message: string }
  | {
      readonly type: "progress";
      readonly rows: RowCounts;
      readonly calls: CallCounts;
      readonly rowsTotal?: number | undefined;
      /** Whether all of it was done by an earlier attempt, which is gone over before anything is sent. */
      readonly isReplay: boolean;
    }
  | { readonly type: "wait"; readonly message: string; readonly ms: number }
  /** Files are read, and nothing is sent meanwhile; how far that is. */
  | {
      readonly type: "reading";
      readonly doing: "keeping" | "checking" | "again";
      readonly file: string;
      readonly rows?: number;
      readonly bytes?: number;
    }
  /** How much was read of what the service holds. */
  | { readonly type: "readBack"; readonly records: number; readonly calls: number };

/** Looks on at an import, as a plan does, and changes nothing of it. */
export interface ImportWatch {
  readonly importing: (importing: Importing) => Importing;
  readonly files: (files: readonly InputFile[]) => void;
  readonly books: (books: Books) => void;
}

/** What an import needs of the world. */
export interface ImportDeps {
  /** Opens the way to the service; called when the first call is due, never in a dry run. */
  readonly openService: (options: { rate?: number | undefined; rateShare?: number | undefined }) => Promise<{
    service: Service;
    concurrency: number;
    /** Whether calls are carried out in the order in which they were made, also those under way at once. */
    keepsOrder: boolean;
    /** Calls a second that it is held to; nothing where it is not paced. */
    ratePerSecond?: number | undefined;
    close(): Promise<void>;
  }>;
  readonly profileName: string;
  /** Where the profile leads: an address and its account, or a database. A run goes on only where it began. */
  readonly target: string;
  readonly runsFolder: string;
  readonly clock: () => number;
  readonly random: (bytes: number) => Buffer;
  readonly stdin: Readable;
  readonly cwd: string;
  readonly version: string;
  /** The first signal: what is in flight is finished. */
  readonly stop: AbortSignal;
  /** The second: nothing is waited for. */
  readonly abort: AbortSignal;
  readonly report: (event: ImportEvent) => void;
  readonly watch?: ImportWatch | undefined;
}

/** An import that could not start, or could not go on; `summary` where a run exists. */
export class ImportError extends Error {
  override readonly name = "ImportError";
  readonly kind: "usage" | "temporary" | "auth" | "failed";
  readonly hint: string | undefined;
  readonly summary: ImportSummary | undefined;
  /** A name that is not known, and those that are. */
  readonly misnamed: { readonly given: string; readonly known: readonly string[] } | undefined;

  constructor(
    kind: ImportError["kind"],
    message: string,
    more: {
      hint?: string | undefined;
      summary?: ImportSummary | undefined;
      cause?: unknown;
      misnamed?: ImportError["misnamed"];
    } = {},
  ) {
    super(message, { cause: more.cause });
    this.kind = kind;
    this.hint = more.hint;
    this.summary = more.summary;
    this.misnamed = more.misnamed;
  }
}
