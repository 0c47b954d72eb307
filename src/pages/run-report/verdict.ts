import { isolate } from "../bidi.ts";
import { type Html, markup } from "../markup.ts";
import { baseName, formatShare, formatTime } from "./format.ts";
import { countOf, formatNumber } from "../../terminal/plural.ts";
import type { RunReport } from "../../import/report/run-report.ts";

type Tone = "good" | "warn" | "bad";

/** The files that a title names. */
const maxNamed = 3;

/** The length of a file's name in a title, which ends with the most specific part. */
const maxNameLength = 48;

function shorten(name: string): string {
  const characters = Array.from(name);
  if (characters.length <= maxNameLength) return name;
  const half = maxNameLength / 2;
  return `${characters.slice(0, half).join("")}…${characters.slice(1 - half).join("")}`;
}

/** Names the kind and the files: `Import of orders from january.csv, february.csv, and 4 more files`. */
export function titleOf({ summary: { kind }, files }: Pick<RunReport, "summary" | "files">): readonly string[] {
  const others = files.length - maxNamed;
  const shown = files.slice(0, others === 1 ? maxNamed + 1 : maxNamed).map(({ file }) => shorten(baseName(file)));
  const more = others > 1 ? ` and ${formatNumber(others)} more files` : "";
  return [`Import of ${kind}${shown.length > 0 ? " from " : ""}`, shown.join(", "), more];
}

/** States the result of a run: what happened to the rows comes before how the run ended. */
export function renderVerdict(run: RunReport): Html {
  const { tone, result, ending } = judge(run);
  const symbol = { good: "✓", warn: "!", bad: "✗" }[tone];
  return markup`<section class="verdict ${tone}" aria-label="Result">
<p class="result"><span class="symbol">${symbol}</span> ${result}</p>
${renderShares(run)}
<p>${ending}</p>
${describeLater(run).map((text) => markup`<p>${text}</p>\n`)}${renderNextStep(run)}
</section>`;
}

/** Whether all rows that were not accepted repeat records that are stored. */
export function areAllStored({ summary, reasons, rows_without_reason }: RunReport): boolean {
  return summary.state === "finished" && rows_without_reason === 0 && reasons.every(({ code }) => code === "duplicate");
}

function judge(run: RunReport): { readonly tone: Tone; readonly result: string; readonly ending: string } {
  const { summary } = run;
  const { read, rejected, failed } = summary.rows;
  const lost = rejected + failed;
  const isMostlyLost = lost * 2 >= read && !areAllStored(run);
  const endings = {
    finished: ["good", "", "The import finished."],
    running: ["warn", "Running: ", "The import is still running, or was killed."],
    interrupted: ["warn", "Interrupted: ", "The import was interrupted; the remaining rows were not read."],
    stopped: [
      "bad",
      "Stopped: ",
      "More rows were rejected than --max-errors allows; the remaining rows were not read.",
    ],
    failed: ["bad", "Failed: ", "The import failed; the remaining rows were not read."],
  } as const;
  const [endTone, prefix, ending] = endings[summary.state];
  const rowTone = lost === 0 ? "good" : failed > 0 || isMostlyLost ? "bad" : "warn";
  const tones = new Set<Tone>([endTone, rowTone, read === 0 ? "warn" : "good"]);
  const tone = tones.has("bad") ? "bad" : tones.has("warn") ? "warn" : "good";
  return { tone, result: `${prefix}${describeResult(run)}`, ending };
}

function describeResult(run: RunReport): string {
  const { read, accepted, rejected, failed } = run.summary.rows;
  const rows = countOf(read, "row");
  if (read === 0) return run.summary.state === "finished" ? "The files contain no rows" : "no rows were read";
  const all = run.summary.state === "finished" ? "All" : "all";
  const describe = (count: number, verb: string) =>
    `${count === read ? all : `${formatNumber(count)} of`} ${rows} ${count === 1 ? "was" : "were"} ${verb}`;
  if (read === 1) return `1 row was ${accepted === 1 ? "accepted" : rejected === 1 ? "rejected" : "not imported"}`;
  if (accepted === read) return describe(read, "accepted");
  const share = formatShare(rejected + failed, read);
  if (failed === 0) return `${describe(rejected, "rejected")}${rejected === read ? "" : ` (${share})`}`;
  if (rejected === 0) return `${describe(failed, "not imported")}${failed === read ? "" : ` (${share})`}`;
  return `${describe(rejected + failed, "not imported")} (${formatNumber(rejected)} rejected, ${formatNumber(failed)} failed)`;
}

/** A bar with the shares of accepted, rejected, and failed rows; the counts below state the same in text. */
function renderShares({ summary: { rows } }: RunReport): Html | false {
  if (rows.read === 0) return false;
  let x = 0;
  const parts = (["accepted", "rejected", "failed"] as const).map((name) => {
    // A share above zero is visible.
    const width = rows[name] === 0 ? 0 : Math.max(0.5, (rows[name] * 100) / rows.read);
    const part = markup`<rect class="${name}" x="${Number(x.toFixed(2))}" width="${Number(width.toFixed(2))}" height="1"/>`;
    x += width;
    return width > 0 && part;
  });
  return markup`<svg class="shares" viewBox="0 0 ${Number(x.toFixed(2))} 1" preserveAspectRatio="none" aria-hidden="true">${parts}</svg>`;
}

/** The verification and the undo, if they change the result. */
function describeLater({ verified, undone }: RunReport): string[] {
  const different = verified ? verified.missing_count + (verified.different_count ?? 0) : 0;
  const found = `The verification found ${countOf(different, "missing or different row")}.`;
  if (!undone) return different > 0 ? [found] : [];
  const undoneAt = formatTime(Date.parse(undone.finished_at ?? undone.started_at));
  const undo = `The import was ${undone.state === "finished" ? "" : "partly "}undone at ${undoneAt}.`;
  return different > 0 ? [found, undo] : [undo];
}

function renderNextStep(run: RunReport): Html {
  const { import_id: id, state, rejects_file: rejects, rows } = run.summary;
  const hasRejects = rows.rejected + rows.failed > 0 && rejects !== null;
  const remedy = areAllStored(run)
    ? "These records are already stored; nothing needs to be done."
    : "Fix them and import that file.";
  const flag = state === "stopped" ? " --max-errors 100%" : "";
  return markup`${hasRejects && markup`<p>The rejected rows are in ${isolate(rejects)}. ${remedy}</p>\n`}${state !== "finished" && markup`<p>To continue, run: <code>starpost imports resume ${id ?? ""}${flag}</code></p>`}`;
}
