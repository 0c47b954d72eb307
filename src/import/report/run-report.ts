import { existsSync, readFileSync } from "node:fs";
import { unitOf } from "../csv/file-format.ts";
import { readJournal } from "../run/journal.ts";
import { findRun, rejectRemoved, runPaths, summarizeRun } from "../run/run-folder.ts";
import type { ImportOptions } from "../options.ts";
import type { ImportSummary, Verification } from "../summary.ts";
import { readUndoRecord, type UndoRecord } from "../undo/undo-record.ts";
import type { RecordKind } from "../kind.ts";
import { readRejectReasons, type RejectReason } from "./reject-reasons.ts";
import { readTimeline, type Timeline } from "./timeline.ts";

/** A file of a run, as it was when the run began. */
export interface ReportedFile {
  readonly file: string;
  readonly size_bytes: number;
  readonly sha256: string;
  readonly encoding: string;
  readonly delimiter: string;
}

/** The last verification, without the rows. */
export type ReportedVerification = Omit<Verification, "missing" | "different"> & { readonly at: string | null };

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
    timeline,
    verified: readVerified(paths.verified),
    undone: readUndoRecord(runsFolder, id) ?? null,
  };
}

function readVerified(path: string): ReportedVerification | null {
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as ReportedVerification) : null;
}

/** The options that differ from their defaults, by flag. */
function describeOptions(options: ImportOptions, kind: RecordKind | undefined): Record<string, string> {
  const { map, set, maxErrors, dryRun: _dryRun, ...others } = options;
  const kindFlags = Object.entries(kind?.importCommand.flags ?? {});
  const described: Record<string, string> = {};
  for (const [name, value] of Object.entries(others)) {
    const [flag, { isNegated = false } = {}] = kindFlags.find(([, { option }]) => option === name) ?? [];
    if (value === undefined || value === isNegated) continue;
    described[`--${flag ?? toFlag(name)}`] = value === true || value === false ? "yes" : formatValue(value);
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

function formatValue(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function toFlag(option: string): string {
  return option.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
