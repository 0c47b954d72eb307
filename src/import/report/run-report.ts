import { existsSync, readFileSync } from "node:fs";
import { readFileHead, unitOf } from "../csv/file-format.ts";
import { readRowBatches } from "../csv/row-batches.ts";
import { readJournal, type JournalEntry } from "../run/journal.ts";
import { findRun, rejectRemoved, runPaths, summarizeRun } from "../run/run-folder.ts";
import type { ImportOptions } from "../options.ts";
import type { ImportSummary, Verification } from "../summary.ts";
import { readUndoRecord, type UndoRecord } from "../undo/undo-record.ts";
import type { RecordKind } from "../kind.ts";
import { readRejectReasons, type RejectReason } from "./reject-reasons.ts";

/** A file of a run, as it was when the run began. */
export interface ReportedFile {
  readonly file: string;
  readonly size_bytes: number;
  readonly sha256: string;
  readonly encoding: string;
  readonly delimiter: string;
}

/** The last verification, without the rows. Those of older versions did not compare values. */
type ReportedVerification = Omit<Verification, "missing" | "different" | "different_count"> &
  Partial<Pick<Verification, "different_count">> & { readonly at: string | null };

/** The IDs that a run rewrote. */
export interface FixedIds {
  readonly count: number;
  /** The first ones, as given and as sent. */
  readonly examples: readonly (readonly [given: string, sent: string])[];
}

/** Everything known about a run. */
export interface RunReport {
  readonly summary: ImportSummary;
  readonly profile: string;
  readonly target: string;
  /** The version of starpost that began it. */
  readonly version: string;
  /** When it was last active; null if it never was. */
  readonly ended_at: string | null;
  /** The options, by flag. */
  readonly options: Readonly<Record<string, string>>;
  readonly files: readonly ReportedFile[];
  readonly reasons: readonly RejectReason[];
  /** Rejected rows that are missing from the reject files, because the run ended before they were written. */
  readonly rows_without_reason: number;
  /** What the import reported about the rows. */
  readonly notices: readonly string[];
  readonly fixed_ids: FixedIds;
  readonly timeline: Timeline;
  readonly verified: ReportedVerification | null;
  readonly undone: UndoRecord | null;
}

/**
 * Reads everything known about a run; changes nothing.
 * @throws ImportError `usage` if there is no such run
 */
export function readRunReport(runsFolder: string, idOrStart: string, kinds: readonly RecordKind[]): RunReport {
  const manifest = findRun(runsFolder, idOrStart);
  rejectRemoved(manifest);
  const kind = kinds.find(({ name }) => name === manifest.kind);
  const id = manifest.import_id;
  const paths = runPaths(runsFolder, id);
  const summary = summarizeRun(runsFolder, manifest);
  const timeline = readTimeline(readJournal(paths.journal));
  const ended = timeline.attempts.at(-1)?.to;
  const reasons = readRejectReasons(paths.folder, manifest.options, {
    files: manifest.files.map(({ given, format }) => ({ given, unit: unitOf(format) })),
    kindCodes: kind?.rejectCodes,
  });
  const explained = reasons.reduce((sum, { rows }) => sum + rows, 0);
  return {
    summary,
    profile: manifest.profile,
    target: manifest.target,
    version: manifest.version,
    ended_at: ended === undefined ? null : new Date(ended).toISOString(),
    options: describeOptions(manifest.options, kind),
    files: manifest.files.map(({ given, size_bytes, sha256, format: { encoding, delimiter } }) => ({
      file: given,
      size_bytes,
      sha256,
      encoding,
      delimiter,
    })),
    reasons,
    rows_without_reason: Math.max(0, summary.rows.rejected + summary.rows.failed - explained),
    notices: manifest.notices ?? [],
    fixed_ids: readFixedIds(paths.fixedIds),
    timeline,
    verified: existsSync(paths.verified)
      ? (JSON.parse(readFileSync(paths.verified, "utf8")) as ReportedVerification)
      : null,
    undone: readUndoRecord(runsFolder, id) ?? null,
  };
}

/** The most rewritten IDs in a report. */
const maxFixedIds = 20;

function readFixedIds(path: string): FixedIds {
  if (!existsSync(path)) return { count: 0, examples: [] };
  const { source, format } = readFileHead(path, { encoding: "utf-8", delimiter: "," });
  const examples: [string, string][] = [];
  let count = 0;
  for (const { rows } of readRowBatches(source, format, undefined)) {
    count += rows.length;
    for (const [given = "", sent = ""] of rows.slice(0, maxFixedIds - examples.length)) examples.push([given, sent]);
  }
  return { count, examples };
}

/** The options that differ from their defaults, by flag. */
function describeOptions(options: ImportOptions, kind: RecordKind | undefined): Record<string, string> {
  const { map, set, maxErrors, dryRun: _dryRun, ...others } = options;
  const kindFlags = Object.entries(kind?.importCommand.flags ?? {});
  const described: Record<string, string> = {};
  for (const [name, value] of Object.entries(others)) {
    const [flag, { isNegated = false } = {}] = kindFlags.find(([, { option }]) => option === name) ?? [];
    if (value === undefined || value === isNegated) continue;
    const shownAs = flag ?? name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const text = typeof value === "string" ? value : JSON.stringify(value);
    described[`--${shownAs}`] = value === true || value === false ? "yes" : text;
  }
  if (maxErrors) described["--max-errors"] = "count" in maxErrors ? String(maxErrors.count) : `${maxErrors.percent}%`;
  const joinPairs = (pairs: Readonly<Record<string, string>> = {}) =>
    Object.entries(pairs)
      .map(([field, value]) => `${field}=${value}`)
      .join(", ");
  if (joinPairs(map) !== "") described["--map"] = joinPairs(map);
  if (joinPairs(set) !== "") described["--set"] = joinPairs(set);
  return described;
}

/** What a run did in one interval. Null if its journal does not show it. */
export interface TimelinePoint {
  /** Start of the interval, in milliseconds since the epoch. */
  readonly at: number;
  /** Rows whose outcome became known. */
  readonly rows: number;
  /** Requests sent, and how many of them were repeats or delayed by the service's limit. */
  readonly calls: number;
  readonly retried: number | null;
  readonly throttled: number | null;
  /** How long calls waited, by reason, in milliseconds; concurrent calls wait concurrently. */
  readonly waits: { readonly pace: number; readonly throttled: number; readonly retry: number } | null;
}

/** One attempt at a run: the first, or a resume. */
export interface AttemptSpan {
  readonly from: number;
  readonly to: number;
  /** Rows whose outcome became known in it. */
  readonly rows: number;
  /** Whether it ended on its own; otherwise, it was killed. */
  readonly isEnded: boolean;
}

export interface Timeline {
  readonly intervalMs: number;
  /** Intervals in which the run was active; at most about `maxIntervals` in all attempts. */
  readonly points: readonly TimelinePoint[];
  readonly attempts: readonly AttemptSpan[];
  /** Whether the journal has heartbeats, which record repeats, limits, and waits as they occur. */
  readonly hasHeartbeats: boolean;
}

export const maxIntervals = 120;

/** Round interval lengths, in milliseconds. */
const lengths = [
  1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 900_000, 1_800_000, 3_600_000,
  7_200_000, 21_600_000, 43_200_000, 86_400_000,
];

export function readTimeline(entries: readonly JournalEntry[]): Timeline {
  const attempts = findAttempts(entries);
  const workedMs = attempts.reduce((sum, { from, to }) => sum + (to - from), 0);
  const needed = workedMs / Math.max(maxIntervals / 2, maxIntervals - attempts.length * 2);
  const intervalMs = lengths.find((length) => length >= needed) ?? needed;
  const hasHeartbeats = entries.some(({ t }) => t === "heartbeat");
  const counts = new IntervalCounts(intervalMs, hasHeartbeats);
  for (const { from, to } of attempts) counts.cover(from, to);
  let most = 0;
  for (const entry of entries) {
    if (entry.t === "heartbeat") counts.addHeartbeat(entry);
    if (!("totals" in entry)) continue;
    // A resume repeats what was settled before; only the excess is new.
    const rows = Math.max(0, entry.totals.rows.read - most);
    most = Math.max(most, entry.totals.rows.read);
    counts.addOutcome(entry.at, rows, "calls" in entry && !hasHeartbeats ? entry.calls.sent : 0);
  }
  return { intervalMs, points: counts.points(), attempts, hasHeartbeats };
}

function findAttempts(entries: readonly JournalEntry[]): AttemptSpan[] {
  const found: { from: number; to: number; rows: number; isEnded: boolean }[] = [];
  let most = 0;
  for (const entry of entries) {
    if (entry.t === "start") found.push({ from: entry.at, to: entry.at, rows: 0, isEnded: false });
    const attempt = found.at(-1);
    if (!attempt || !("at" in entry) || entry.at === undefined) continue;
    attempt.to = Math.max(attempt.to, entry.at);
    if (entry.t === "totals") attempt.isEnded = true;
    if (!("totals" in entry)) continue;
    attempt.rows += Math.max(0, entry.totals.rows.read - most);
    most = Math.max(most, entry.totals.rows.read);
  }
  return found;
}

type Counts = { -readonly [K in keyof TimelinePoint]: TimelinePoint[K] };

/** Counts by interval; an interval starts at a multiple of its length. */
class IntervalCounts {
  readonly #lengthMs: number;
  readonly #hasHeartbeats: boolean;
  readonly #counts = new Map<number, Counts>();

  constructor(lengthMs: number, hasHeartbeats: boolean) {
    this.#lengthMs = lengthMs;
    this.#hasHeartbeats = hasHeartbeats;
  }

  /** Idle intervals are included. */
  cover(from: number, to: number): void {
    for (let at = this.#startOf(from); at <= to; at += this.#lengthMs) this.#at(at);
  }

  addOutcome(at: number, rows: number, calls: number): void {
    const counts = this.#at(at);
    counts.rows += rows;
    counts.calls += calls;
  }

  addHeartbeat({ at, ms, seen, waits }: Extract<JournalEntry, { t: "heartbeat" }>): void {
    // It covers the time before it.
    const counts = this.#at(at - Math.min(ms, this.#lengthMs) / 2);
    counts.calls += seen[0];
    counts.retried = (counts.retried ?? 0) + seen[1];
    counts.throttled = (counts.throttled ?? 0) + seen[2];
    const before = counts.waits ?? noWaits;
    counts.waits = {
      pace: before.pace + waits[0],
      throttled: before.throttled + waits[1],
      retry: before.retry + waits[2],
    };
  }

  points(): TimelinePoint[] {
    return [...this.#counts.values()].toSorted((a, b) => a.at - b.at);
  }

  #startOf(at: number): number {
    return Math.floor(at / this.#lengthMs) * this.#lengthMs;
  }

  #at(atMs: number): Counts {
    const at = this.#startOf(atMs);
    const known = this.#counts.get(at);
    if (known) return known;
    const own = this.#hasHeartbeats
      ? { retried: 0, throttled: 0, waits: noWaits }
      : { retried: null, throttled: null, waits: null };
    const fresh = { at, rows: 0, calls: 0, ...own };
    this.#counts.set(at, fresh);
    return fresh;
  }
}

const noWaits = { pace: 0, throttled: 0, retry: 0 };
