import { isDatabaseServer, type Profile } from "../../../config/profile.ts";
import type { RejectReason } from "../../../import/events.ts";
import type { ImportOptions } from "../../../import/options.ts";
import type { ImportSummary } from "../../../import/summary.ts";
import type { VerifiedRun } from "../../../import/verify/verify.ts";
import { findKind } from "../../../records/index.ts";
import { noPaint, type Paint } from "../../../terminal/colors.ts";
import { alignRows } from "../../../terminal/sections.ts";
import type { Tone } from "../../../terminal/view.ts";
import { countOf, formatDuration, formatNumber } from "../../../terminal/plural.ts";

/** The most reject reasons that a summary lists. */
const maxReasons = 10;

/** The name of an input file in messages. Files that a sync wrote for its own runs are named after the sync. */
export function describeFile(file: string): string {
  if (file === "-") return "standard input";
  const [, id, list] = /[\\/](\d{8}-\d{6}-[0-9a-f]{6})[\\/](added|removed)\.csv$/.exec(file) ?? [];
  return id === undefined ? file : `sync ${id} (${list})`;
}

function describeFiles(files: readonly string[]): string {
  return files.map(describeFile).join(", ");
}

/** The account that a command writes to or reads from. */
export function describeTarget(profile: Profile): string {
  return profile.mode === "remote"
    ? `${profile.baseUrl}, account ${profile.appKey} (profile ${profile.name})`
    : `the ${isDatabaseServer(profile) ? "PostgreSQL" : "embedded"} database (${profile.shownAs})`;
}

/** The account of a profile, as runs record it: a run continues only there. */
export function identifyAccount(profile: Profile): string {
  return profile.mode === "local"
    ? [profile.shownAs, profile.account].filter((part) => part !== undefined).join(" ")
    : `${profile.baseUrl} ${profile.appKey}`;
}

interface RequestedImport {
  readonly kind: string;
  readonly files: readonly string[];
  readonly options: ImportOptions;
}

/** The question before a run that overwrites, deletes, or sends emails; undefined if it only adds. */
export function describeOverwriting({ kind, files, options }: RequestedImport): string | undefined {
  return options.dryRun ? undefined : findKind(kind).confirmation?.(options, describeFiles(files));
}

/** A line of a summary after its label; an empty label continues the line before. */
export type Labeled = readonly [label: string, text: string];

/** The lines of a summary, aligned with those of other summaries. */
export function alignLabels(lines: readonly Labeled[]): string[] {
  return alignRows(lines, { minWidth: "rejected".length });
}

/** What the end summary shows apart from the summary itself. */
export interface EndDetails {
  readonly target: string;
  readonly waitedMs: number;
  readonly rejects: readonly RejectReason[];
  readonly paint?: Paint;
}

export function describeEnd(
  summary: ImportSummary,
  { target, waitedMs, rejects, paint = noPaint }: EndDetails,
): string[] {
  const { import_id: id, rows, rejects_file: rejectsFile } = summary;
  const areStored = areAllStored(summary, rejects);
  const remedy = areStored
    ? "These records are already stored; nothing needs to be done."
    : "Fix them and import that file.";
  return [
    (id === null ? unpainted : paint[areStored ? "yellow" : toneOfRun(summary)])(describeState(summary, target)),
    ...alignLabels([
      ["rows", describeRows(rows, paint)],
      id === null
        ? ["dry run", `an import would send ${countItems(summary.kind, summary.items.sent)}`]
        : describeCalls(summary, waitedMs),
      ...describeOutcomes("stored", summary.items),
      ...describeFilled(summary),
      ...describeRejects(areStored ? rejects.map((reason) => ({ ...reason, hint: undefined })) : rejects, rows),
    ]),
    ...(summary.verified ? describeVerification({ import_id: id ?? "", kind: summary.kind, ...summary.verified }) : []),
    ...(rejectsFile === null ? [] : [`${paint.bold("Rejected rows:")} ${rejectsFile}. ${remedy}`]),
    ...(id === null ? [] : [describeNextStep(id, summary)]),
  ];
}

/** Whether all rejected rows are duplicates; after a finished run, the records that they repeat are stored. */
function areAllStored({ import_id: id, state, rows }: ImportSummary, rejects: readonly RejectReason[]): boolean {
  const duplicates = rejects.reduce((sum, { code, count }) => (code === "duplicate" ? sum + count : sum), 0);
  return id !== null && state === "finished" && duplicates > 0 && duplicates === rows.rejected + rows.failed;
}

function describeRows({ read, accepted, rejected, failed }: ImportSummary["rows"], paint: Paint): string {
  return [
    `${formatNumber(read)} read`,
    `${formatNumber(accepted)} accepted`,
    (rejected > 0 ? paint.yellow : unpainted)(`${formatNumber(rejected)} rejected`),
    (failed > 0 ? paint.red : unpainted)(`${formatNumber(failed)} failed`),
  ].join(", ");
}

function unpainted(text: string): string {
  return text;
}

function describeCalls({ kind, items, calls, duration_ms: durationMs }: ImportSummary, waitedMs: number): Labeled {
  // Calls in flight wait at the same time, so their sum can exceed the duration.
  const waitMs = Math.min(waitedMs, durationMs);
  const notes = [
    formatDuration(durationMs),
    waitMs >= 100 ? `${formatDuration(waitMs)} of it waiting` : "",
    calls.retried > 0 ? `${formatNumber(calls.retried)} retried` : "",
    calls.throttled > 0 ? `${formatNumber(calls.throttled)} rate limited` : "",
  ].filter((note) => note !== "");
  return ["sent", `${countSent(kind, items.sent, calls.sent)} (${notes.join(", ")})`];
}

/** What was sent: nothing if all items are stored already. */
export function countSent(kind: string, items: number, calls: number): string {
  return items > 0 && calls === 0 ? "nothing" : `${countItems(kind, items)} in ${countOf(calls, "call")}`;
}

/** The number of items of a kind: `2 orders`. */
export function countItems(kind: string, count: number): string {
  const { one, many } = findKind(kind).itemName;
  return countOf(count, one, many);
}

/** What became of the accepted items; nothing if the service does not report it. */
export function describeOutcomes(
  label: string,
  { accepted, created, changed, unchanged }: ImportSummary["items"],
): Labeled[] {
  if (accepted === 0 || created === null || changed === null || unchanged === null) return [];
  const [added, others] = [formatNumber(created), formatNumber(changed)];
  return [[label, `${added} created, ${others} changed, ${formatNumber(unchanged)} unchanged`]];
}

/** The values that the import made of empty fields. */
export function describeFilled({ kind, items }: Pick<ImportSummary, "kind" | "items">): Labeled[] {
  const names = findKind(kind).filledFields ?? {};
  return Object.entries(items.filled ?? {}).map(([field, count]) => {
    const { one = field, many = field } = names[field] ?? {};
    return ["filled", countOf(count, one, many)];
  });
}

/** One line per reason: how many rows, why, the first of them, and how to fix it. */
export function describeRejects(
  rejects: readonly RejectReason[],
  rows: Pick<ImportSummary["rows"], "rejected" | "failed">,
): Labeled[] {
  const listed = rejects.slice(0, maxReasons).map(describeReason);
  const omitted = rejects.length - listed.length;
  const texts = omitted > 0 ? [...listed, `and ${countOf(omitted, "more reason")}`] : listed;
  return texts.map((text, at) => [at > 0 ? "" : rows.rejected > 0 ? "rejected" : "failed", text]);
}

function describeReason({ count, items, column, reason, hint, place, value }: RejectReason): string {
  const what = column === "" ? reason : `${column} ${reason}`;
  const example = value === "" ? place : `${place}: ${JSON.stringify(value)}`;
  const rows = `${countOf(count, "row")}${items === undefined ? "" : ` of ${items}`}`;
  return `${rows}: ${what} (${example})${hint === undefined ? "" : `; ${hint}`}`;
}

/** The color of a run: a finished one is green only if every row was accepted. */
export function toneOfRun({ state, rows }: Pick<ImportSummary, "state" | "rows">): Tone {
  if (state !== "finished") return state === "failed" ? "red" : "yellow";
  const lost = rows.rejected + rows.failed;
  if (lost === 0) return "green";
  return rows.failed > 0 || lost * 2 >= rows.read ? "red" : "yellow";
}

function describeState({ state, kind, files, rows, import_id: id }: ImportSummary, target: string): string {
  const subject = `${kind} from ${describeFiles(files)}`;
  if (id === null && state === "interrupted") return "Interrupted. Nothing was sent.";
  if (id === null) return `Checked ${subject} for ${target}. Nothing was sent.`;
  const texts: Readonly<Record<ImportSummary["state"], string>> = {
    finished: `Imported ${describeShare(rows)}${subject} into ${target}`,
    interrupted: `Interrupted the import of ${subject} into ${target}`,
    stopped: `Stopped the import of ${subject} into ${target} because of --max-errors`,
    failed: `Failed to import all ${subject} into ${target}`,
    running: `Importing ${subject} into ${target}`,
  };
  return texts[state];
}

/** The part of the rows that was imported, unless it is all of them. */
function describeShare({ read, accepted }: ImportSummary["rows"]): string {
  if (accepted === read) return "";
  return `${formatNumber(accepted)} of ${countOf(read, "row")} of `;
}

function describeNextStep(id: string, { state }: ImportSummary): string {
  if (state === "finished") return `For details, run: starpost imports show ${id}`;
  if (state === "stopped")
    return `To continue despite the rejected rows, run: starpost imports resume ${id} --max-errors 100%`;
  return `To continue, run: starpost imports resume ${id}`;
}

export function describeVerification(result: VerifiedRun): string[] {
  const { kind, import_id, checked, missing_file, rows_not_looked_for } = result;
  if (result.state === "interrupted") {
    return [`Verification interrupted. To verify again, run: starpost imports verify ${import_id}`];
  }
  const rows = `${countOf(checked.rows, "row")} (${countItems(kind, checked.items)})`;
  const { missing_count: missing, different_count: different } = result;
  const lines = [
    checked.rows === 0 ? "Nothing to verify." : `Verified ${rows}: ${describeFaults(missing, different)}.`,
  ];
  if (rows_not_looked_for > 0) {
    const was = rows_not_looked_for === 1 ? "was" : "were";
    lines.push(`Not verified: ${countOf(rows_not_looked_for, "row")} of the import ${was} rejected or not sent.`);
  }
  const omitted = missing + different - result.missing.length - result.different.length;
  if (omitted > 0) lines.push(`Not shown: ${countOf(omitted, "more row")}. For all rows, use --missing.`);
  if (missing_file !== null) {
    const what = different === 0 ? "Missing rows" : missing === 0 ? "Different rows" : "Missing and different rows";
    lines.push(`${what}: ${missing_file}. To send them again, import that file.`);
  }
  return lines;
}

function describeFaults(missing: number, different: number): string {
  const faults = [
    ...(missing > 0 ? [countOf(missing, "row is missing", "rows are missing")] : []),
    ...(different > 0 ? [countOf(different, "value differs", "values differ")] : []),
  ];
  return faults.length === 0 ? "no differences" : faults.join(", ");
}
