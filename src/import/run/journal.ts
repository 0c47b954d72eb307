import { promisify } from "node:util";
import { closeSync, existsSync, fdatasync, fsyncSync, openSync, readFileSync, readSync } from "node:fs";
import { dirname } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { CallCounts, ItemCounts, RowCounts } from "../summary.ts";
import type { RowError } from "../item.ts";
import type { ChunkOutcomes } from "../outcome.ts";
import { ImportError } from "../import-error.ts";
import { writeFully } from "./new-file.ts";
import { StringDecoder } from "node:string_decoder";

/** The error of one item: position in the chunk, field, code, reason, and the invalid row of the item. */
export type JournalProblem = readonly [
  item: number,
  field: string,
  code: string,
  reason: string,
  row?: number | undefined,
];

/** All counters of a run at one time; `rows.read` counts settled rows. */
export interface Totals {
  readonly rows: RowCounts;
  readonly items: ItemCounts;
  readonly calls: CallCounts;
}

/** A line of the journal. `n` is the chunk's number, from 0, the same in every resume of a run. */
export type JournalEntry =
  | { readonly t: "start"; readonly at: number }
  /** Written before the call is sent. Has a time if it has an idempotency key. */
  | {
      readonly t: "send";
      readonly n: number;
      readonly items: number;
      readonly extent: string;
      readonly key?: string;
      readonly at?: number;
    }
  /** Written before parts of the chunk are sent instead of all of it, if the call cannot be repeated. */
  | { readonly t: "parts"; readonly n: number }
  /** The service honored an idempotency key. */
  | { readonly t: "keys" }
  /** Answered: all items were accepted except the listed ones. */
  | {
      readonly t: "done";
      readonly n: number;
      readonly problems: readonly JournalProblem[];
      /** Absent in the journals of older versions. */
      readonly outcomes?: ChunkOutcomes | undefined;
      readonly calls: CallCounts;
      readonly at: number;
      readonly totals: Totals;
    }
  /** The entire call was rejected permanently. */
  | {
      readonly t: "refused";
      readonly n: number;
      readonly reason: string;
      readonly calls: CallCounts;
      readonly at: number;
      readonly totals: Totals;
    }
  /** Calls with more items than this fail because they are too large or too slow. */
  | { readonly t: "smaller"; readonly maxItems: number }
  /** Not answered; `sure` if it is certain that nothing was done. */
  | { readonly t: "unanswered"; readonly n: number; readonly sure: boolean; readonly calls: CallCounts }
  /**
   * Activity in the last `ms` milliseconds: requests sent, how many of them were repeats, and how many the service's
   * limit delayed; and the waits in that time by reason, in milliseconds. Concurrent calls wait concurrently. Older
   * runs do not have these lines.
   */
  | {
      readonly t: "heartbeat";
      readonly at: number;
      readonly ms: number;
      readonly seen: readonly [sent: number, retried: number, throttled: number];
      readonly waits: readonly [pace: number, throttled: number, retry: number];
    }
  /** The state of the run while nothing is sent, and at its end. */
  | { readonly t: "totals"; readonly at: number; readonly totals: Totals };

/** How much a power failure may lose if the loss only means repeating a repeatable call, in milliseconds. */
const syncEveryMs = 250;

/** The append-only record of what a run sent and what came back. */
export class Journal {
  readonly #descriptor: number;
  readonly #clock: () => number;
  #lastSyncMs = 0;
  /** Whether the last line may be incomplete; the next one then starts with a line break. */
  #isTorn: boolean;
  #running: Promise<void> = Promise.resolve();
  /** The sync after the running one. */
  #next: Promise<void> | undefined;
  /** Why a sync failed for which nobody waited. */
  #failure: Error | undefined;

  constructor(path: string, clock: () => number) {
    this.#clock = clock;
    const isNew = !existsSync(path);
    this.#isTorn = !isNew && !readFileSync(path).subarray(-1).equals(Buffer.from("\n"));
    this.#descriptor = openSync(path, "a", 0o600);
    if (isNew) syncFolder(dirname(path));
  }

  /** Appends a line, which is on disk shortly after. */
  append(entry: JournalEntry): void {
    if (this.#failure) throw this.#failure;
    const line = `${this.#isTorn ? "\n" : ""}${JSON.stringify(entry)}\n`;
    this.#isTorn = true;
    writeFully(this.#descriptor, Buffer.from(line));
    this.#isTorn = false;
    if (this.#clock() - this.#lastSyncMs <= syncEveryMs) return;
    this.sync().catch((error: Error) => (this.#failure ??= error));
  }

  /**
   * Resolves when all lines that have been appended are on disk. A sync does not block the thread, and calls that wait
   * for it share the next one.
   */
  sync(): Promise<void> {
    this.#lastSyncMs = this.#clock();
    this.#next ??= this.#running
      .catch(() => {})
      // Lines that are appended until then share the sync.
      .then(() => nextTurn())
      .then(() => {
        this.#next = undefined;
        this.#running = promisify(fdatasync)(this.#descriptor);
        return this.#running;
      });
    return this.#next;
  }

  async close(): Promise<void> {
    try {
      await this.sync();
    } finally {
      closeSync(this.#descriptor);
    }
  }
}

/** Writes the name of a new file to the disk. Some systems cannot, such as Windows, which does it itself. */
function syncFolder(path: string): void {
  try {
    const descriptor = openSync(path, "r");
    fsyncSync(descriptor);
    closeSync(descriptor);
  } catch {
    // The lines themselves are still synced.
  }
}

/** Reads a journal, skipping lines that a crash cut short. */
export function* readEntries(path: string): Generator<JournalEntry> {
  for (const line of readLines(path)) {
    try {
      if (line !== "") yield JSON.parse(line) as JournalEntry;
    } catch {
      // Cut short.
    }
  }
}

export const readJournal = (path: string): readonly JournalEntry[] => [...readEntries(path)];

/** What earlier attempts at a run settled, by chunk. */
export interface Settled {
  readonly done: ReadonlyMap<number, Extract<JournalEntry, { t: "done" }>>;
  /** Completed chunks that were sent again without an outcome, because a call that precedes them was repeated. */
  readonly reopened: ReadonlySet<number>;
  /** The highest number of a chunk that was sent; -1 if none was. */
  readonly lastSent: number;
  /** Sent without an answer. */
  readonly unknown: ReadonlySet<number>;
  readonly extents: ReadonlyMap<number, string>;
  /** Whether the service has honored an idempotency key of this run. */
  readonly honorsKeys: boolean;
  /** The idempotency key of each chunk, and when it was first sent. */
  readonly keyed: ReadonlyMap<number, { readonly key: string; readonly atMs: number }>;
  /** Chunks of which parts were sent, or the same chunk under different keys. */
  readonly parted: ReadonlySet<number>;
  /** When each was last sent, as a position among all sends. */
  readonly sentAt: ReadonlyMap<number, number>;
  /** Sent after a chunk with a higher number. */
  readonly late: ReadonlySet<number>;
  /** The maximum number of items per call; undefined if no call was too large. */
  readonly maxItems: number | undefined;
  readonly calls: CallCounts;
  /** The combined duration of all attempts, in milliseconds. */
  readonly durationMs: number;
  readonly totals: Totals | undefined;
}

export function settle(entries: Iterable<JournalEntry>): Settled {
  const calls = { sent: 0, retried: 0, throttled: 0 };
  const settled = {
    done: new Map<number, Extract<JournalEntry, { t: "done" }>>(),
    reopened: new Set<number>(),
    lastSent: -1,
    unknown: new Set<number>(),
    extents: new Map<number, string>(),
    honorsKeys: false,
    keyed: new Map<number, { readonly key: string; readonly atMs: number }>(),
    parted: new Set<number>(),
    sentAt: new Map<number, number>(),
    late: new Set<number>(),
    maxItems: undefined as number | undefined,
    calls,
    durationMs: 0,
    totals: undefined as Totals | undefined,
  };
  const { done, reopened, unknown, keyed, parted } = settled;
  const open = new Set<number>();
  let sends = 0;
  let startedAt = 0;
  let lastAt = 0;
  const settleSend = ({ n, extent, key, at }: Extract<JournalEntry, { t: "send" }>) => {
    settled.extents.set(n, extent);
    settled.sentAt.set(n, sends++);
    if (n < settled.lastSent) settled.late.add(n);
    settled.lastSent = Math.max(settled.lastSent, n);
    open.add(n);
    if (done.has(n)) reopened.add(n);
    unknown.add(n);
    const first = keyed.get(n);
    if (!first && key !== undefined && at !== undefined) keyed.set(n, { key, atMs: at });
    else if (first && first.key !== key) parted.add(n);
  };
  for (const entry of entries) {
    if (entry.t === "start") {
      settled.durationMs += lastAt - startedAt;
      startedAt = entry.at;
      lastAt = entry.at;
    }
    if ("at" in entry) lastAt = Math.max(lastAt, entry.at ?? lastAt);
    if (entry.t === "keys") settled.honorsKeys = true;
    if (entry.t === "parts") parted.add(entry.n);
    // A resume that repeats an early call has counted few rows so far.
    if ("totals" in entry && entry.totals.rows.read >= (settled.totals?.rows.read ?? 0)) settled.totals = entry.totals;
    if (entry.t === "smaller") settled.maxItems = entry.maxItems;
    if ("calls" in entry) {
      calls.sent += entry.calls.sent;
      calls.retried += entry.calls.retried;
      calls.throttled += entry.calls.throttled;
    }
    if (entry.t === "send") settleSend(entry);
    else if (entry.t === "done" || entry.t === "refused" || entry.t === "unanswered") {
      open.delete(entry.n);
      if (entry.t !== "unanswered" || entry.sure) unknown.delete(entry.n);
      if (entry.t === "done") {
        done.set(entry.n, entry);
        reopened.delete(entry.n);
        settled.lastSent = Math.max(settled.lastSent, entry.n);
      }
    }
  }
  // A call that a crash interrupted was sent nevertheless.
  calls.sent += open.size;
  settled.durationMs += lastAt - startedAt;
  return settled;
}

/**
 * The errors of a chunk that an earlier attempt settled, by item; undefined if none has.
 * @throws ImportError `failed` if the chunk had other rows then
 */
export function findOutcome(
  { extents, done }: Settled,
  { n, extent }: { readonly n: number; readonly extent: string },
): Map<number, RowError> | undefined {
  if ((extents.get(n) ?? extent) !== extent) {
    throw new ImportError("failed", "the rows no longer form the same calls as when the import began", {
      hint: "if another version of starpost began it, use that version",
    });
  }
  const problems = done
    .get(n)
    ?.problems.map(
      ([at, field, code, reason, row]) => [at, { field, code, reason, ...(row != null && { row }) }] as const,
    );
  return problems && new Map(problems);
}

const pieceBytes = 256 * 1024;

/** The lines of a text file, which may grow meanwhile; none if it does not exist. Memory use is bounded by the longest. */
export function* readLines(path: string): Generator<string> {
  if (!existsSync(path)) return;
  const descriptor = openSync(path, "r");
  try {
    const buffer = Buffer.allocUnsafeSlow(pieceBytes);
    const decoder = new StringDecoder("utf8");
    let rest = "";
    for (let count = readSync(descriptor, buffer); count > 0; count = readSync(descriptor, buffer)) {
      const lines = `${rest}${decoder.write(buffer.subarray(0, count))}`.split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
    }
    yield `${rest}${decoder.end()}`;
  } finally {
    closeSync(descriptor);
  }
}
