import type { Profile } from "../../../config/profile.ts";
import type { ImportOptions } from "../../../import/options.ts";
import type { ImportSummary } from "../../../import/summary.ts";
import type { VerifiedRun } from "../../../import/verify/verify.ts";
import { findKind } from "../../../records/index.ts";
import { noPaint, type Paint } from "../../../terminal/colors.ts";
import { countOf, formatDuration, formatNumber } from "../../../terminal/plural.ts";

/** A file as a person knows it: what a sync wrote for its own runs is known by the sync. */
export function describeFile(file: string): string {
  if (file === "-") return "standard input";
  const [, id, side] = /[\\/](\d{8}-\d{6}-[0-9a-f]{6})[\\/](added|removed)\.csv$/.exec(file) ?? [];
  if (id === undefined) return file;
  return `sync ${id}: ${side === "added" ? "added" : "taken off"}`;
}

/** Which account is written to. */
export function describeTarget(profile: Profile): string {
  return profile.mode === "remote"
    ? `${profile.baseUrl}, account ${profile.appKey} (profile ${profile.name})`
    : `the embedded database ${profile.shownAs}`;
}

interface WantedRun {
  readonly kind: string;
  readonly files: readonly string[];
  readonly options: ImportOptions;
}

/**
 * What a run would overwrite or take away, as a question; nothing where it only adds.
 * Assumed: a run that is resumed was agreed to when it began.
 */
export function describeOverwriting({ kind, files, options }: WantedRun): string | undefined {
  if (options.dryRun) return undefined;
  const named = files.map(describeFile).join(", ");
  return findKind(kind).confirmation?.(options, named);
}

/** How an import ended, in the words of a merchant. */
export function describeEnd(
  summary: ImportSummary,
  target: string,
  waitedMs: number,
  paint: Paint = noPaint,
): string {
  const { kind, rows, items, calls } = summary;
  const { one, many } = findKind(kind).itemName;
  // Calls that are under way at once wait at once.
  const waitMs = Math.min(waitedMs, summary.duration_ms);
  const waited = waitMs >= 100 ? `, ${formatDuration(waitMs)} of it waiting` : "";
  const repeated = calls.retried > 0 ? `, ${formatNumber(calls.retried)} of them repeats` : "";
  const heldBack = calls.throttled > 0 ? `, ${formatNumber(calls.throttled)} held back by a limit` : "";
  return [
    paintState(summary, paint)(describeState(summary, target)),
    describeRows(rows, paint),
    summary.import_id === null
      ? `  calls  none${items.sent > 0 ? `; an import would send ${countOf(items.sent, one, many)}` : ""}`
      : `  sent   ${countOf(items.sent, one, many)} in ${countOf(calls.sent, "call")}${repeated}${heldBack}`,
    `  time   ${formatDuration(summary.duration_ms)}${waited}`,
    ...(summary.import_id === null ? [] : [describeRun(summary.import_id)]),
    ...describeVerified(summary),
    ...describeNext(summary),
  ].join("\n");
}

function describeRows({ read, accepted, rejected, failed }: ImportSummary["rows"], paint: Paint): string {
  const lost = (count: number, word: string, colour: (text: string) => string) =>
    count > 0 ? colour(`${formatNumber(count)} ${word}`) : `${count} ${word}`;
  const taken = `${formatNumber(read)} read: ${formatNumber(accepted)} accepted`;
  return `  rows   ${taken}, ${lost(rejected, "rejected", paint.yellow)}, ${lost(failed, "failed", paint.red)}`;
}

function paintState({ state, import_id }: ImportSummary, paint: Paint): (text: string) => string {
  if (import_id === null) return (text) => text;
  return {
    finished: paint.green,
    failed: paint.red,
    interrupted: paint.yellow,
    stopped: paint.yellow,
    running: paint.bold,
  }[state];
}

/** The name of a run, and what it is good for. */
export function describeRun(id: string): string {
  return `  run    ${id} (starpost imports show|verify|undo …)`;
}

function describeVerified({ kind, verified, import_id }: ImportSummary): string[] {
  return verified ? describeVerification({ import_id: import_id ?? "", kind, ...verified }) : [];
}

/** What came of a verification: every count is said, whatever else is shown. */
export function describeVerification(found: VerifiedRun): string[] {
  const {
    kind,
    import_id,
    checked,
    missing,
    missing_count: count,
    missing_file,
    rows_not_looked_for,
  } = found;
  if (found.state === "interrupted") {
    return [
      "Interrupted before it was known what is there.",
      `To try again: starpost imports verify ${import_id}`,
    ];
  }
  const { one, many } = findKind(kind).itemName;
  const looked = `${countOf(checked.rows, "row")} of ${countOf(checked.items, one, many)}`;
  const lines =
    count === 0
      ? [`Verified: ${looked}: every one is as the run said.`]
      : [`Verified: ${looked}: ${formatNumber(count)} ${count === 1 ? "is" : "are"} NOT as the run said.`];
  if (rows_not_looked_for > 0) {
    const rows = countOf(rows_not_looked_for, "row of the run was", "rows of the run were");
    lines.push(`${rows} rejected or never sent, and not looked for.`);
  }
  if (count > missing.length) lines.push(`${formatNumber(count - missing.length)} more are not shown here.`);
  if (missing_file !== null)
    lines.push(`All missing rows are in ${missing_file}, which can be imported as it is.`);
  return lines;
}

function describeState({ state, kind, files, import_id }: ImportSummary, target: string): string {
  const what = `${kind} from ${files.map(describeFile).join(", ")}`;
  if (import_id === null && state === "interrupted") return "Interrupted before anything was sent or kept.";
  if (import_id === null) return `Checked ${what} for ${target}. A dry run: nothing was sent or written.`;
  const words: Readonly<Record<ImportSummary["state"], string>> = {
    finished: `Imported ${what} into ${target}.`,
    interrupted: `Interrupted while importing ${what} into ${target}.`,
    stopped: `Stopped by --max-errors while importing ${what} into ${target}.`,
    failed: `Failed to import all ${what} into ${target}.`,
    running: `Still importing ${what} into ${target}.`,
  };
  return words[state];
}

function describeNext({ state, import_id, rejects_file }: ImportSummary): string[] {
  const rejects =
    rejects_file === null ? [] : [`Rejected rows are in ${rejects_file}: correct them and import that file.`];
  const isOpen = import_id !== null && state !== "finished";
  return isOpen ? [...rejects, `To go on: starpost imports resume ${import_id}`] : rejects;
}
