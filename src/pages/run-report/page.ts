import { createHash } from "node:crypto";
import { isolate } from "../bidi.ts";
import { type Html, markup, render, trusted } from "../markup.ts";
import { formatCount, formatDuration, formatSize, formatTime, renderTimeline } from "./timeline.ts";
import { reportStyle } from "./style.ts";
import type { ReportedReason, ReportedRun } from "./values.ts";

/** Identifies a file as a report that may be overwritten. */
export const reportMarker = "<!-- starpost import report -->";

const styleHash = createHash("sha256").update(reportStyle).digest("base64");

/** The page loads, sends, and runs nothing. */
const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'`;

/** Renders a self-contained page about an import run, which can be archived, sent, and printed. */
export function renderRunReport(run: ReportedRun): string {
  const { summary } = run;
  return render(markup`<!DOCTYPE html>
${trusted(reportMarker)}
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${trusted(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Import of ${summary.kind}, ${summary.import_id ?? ""}</title>
<style>${trusted(reportStyle)}</style>
</head>
<body>
<main>
<h1>Import of ${summary.kind}</h1>
<p class="state ${summary.state}">${stateTexts[summary.state]}</p>
${renderCounts(run)}
${renderFacts(run)}
${renderFiles(run)}
${renderReasons(run)}
${renderTimeline(run)}
${renderFollowUp(run)}
</main>
</body>
</html>
`);
}

/** The state as a symbol and text, because color alone is not accessible. */
const stateTexts = {
  finished: "✓ Finished",
  running: "… Running",
  interrupted: "! Interrupted (can be resumed)",
  stopped: "! Stopped by --max-errors (can be resumed)",
  failed: "✗ Failed (can be resumed)",
} as const;

function renderCounts({ summary: { rows, items, calls } }: ReportedRun): Html {
  const tile = (value: number, name: string, tone = "") =>
    markup`<div class="tile ${value > 0 ? tone : ""}"><dt>${name}</dt><dd>${formatCount(value)}</dd></div>`;
  return markup`<dl class="tiles">
${tile(rows.read, "rows read")}
${tile(rows.accepted, "rows accepted", "good")}
${tile(rows.rejected, "rows rejected", "warn")}
${tile(rows.failed, "rows failed", "bad")}
${tile(items.accepted, "records accepted")}
${
  items.created !== null &&
  items.changed !== null &&
  items.unchanged !== null &&
  markup`${tile(items.created, "records created")}
${tile(items.changed, "records changed")}
${tile(items.unchanged, "records unchanged")}`
}
${tile(calls.sent, "calls sent")}
${tile(calls.retried, "calls retried", "warn")}
${tile(calls.throttled, "calls rate limited", "warn")}
</dl>`;
}

function renderFacts(run: ReportedRun): Html {
  const { summary, profile, target, version, ended_at, options, timeline } = run;
  const resumes = timeline.attempts.length - 1;
  const facts: (readonly [string, Html | string])[] = [
    ["Import ID", markup`<code>${summary.import_id ?? ""}</code>`],
    ["Target", isolate(target)],
    ["Profile", isolate(profile)],
    ["Started", formatTime(Date.parse(summary.started_at))],
    ["Ended", ended_at === null ? "not started" : formatTime(Date.parse(ended_at))],
    ["Running time", formatDuration(summary.duration_ms)],
    ["Resumed", resumes < 1 ? "no" : resumes === 1 ? "once" : `${formatCount(resumes)} times`],
    ["Version", `starpost ${version}`],
    ...Object.entries(options).map(([flag, value]) => [flag, isolate(value)] as const),
  ];
  return markup`<section>
<h2>Details</h2>
<dl class="facts">
${facts.map(([name, value]) => markup`<div><dt>${name}</dt><dd>${value}</dd></div>\n`)}</dl>
</section>`;
}

function renderFiles({ files }: ReportedRun): Html {
  return markup`<section>
<h2>Files</h2>
<section class="wide" aria-label="Files" tabindex="0">
<table>
<thead><tr><th scope="col">File</th><th scope="col" class="number">Size</th><th scope="col">Encoding</th><th scope="col">SHA-256</th></tr></thead>
<tbody>
${files.map(
  ({ file, size_bytes, encoding, sha256 }) =>
    markup`<tr><th scope="row">${isolate(file === "-" ? "standard input" : file)}</th><td class="number">${formatSize(size_bytes)}</td><td>${encoding}</td><td><code>${sha256}</code></td></tr>\n`,
)}</tbody>
</table>
</section>
</section>`;
}

function renderReasons({ reasons, rows_without_reason: without, summary }: ReportedRun): Html {
  const unaccepted = summary.rows.rejected + summary.rows.failed;
  if (unaccepted === 0) return markup`<section><h2>Rejected rows</h2><p>None. All rows were accepted.</p></section>`;
  const areStored = summary.state === "finished" && without === 0 && reasons.every(({ code }) => code === "duplicate");
  return markup`<section>
<h2>Rejected rows, by reason</h2>
${summary.rejects_file !== null && markup`<p>The rejected rows are in ${isolate(summary.rejects_file)}. ${areStored ? "These records are already stored; nothing needs to be done." : "Fix them and import that file."}</p>`}
${without > 0 && markup`<p>The reason for ${formatCount(without)} of these rows is not known yet, because the import did not finish. Resume it to record the reasons.</p>`}
${reasons.map((reason) => renderReason(reason))}
</section>`;
}

function renderReason({ code, column, rows, means, hint, examples }: ReportedReason): Html {
  return markup`<article class="reason">
<h3>${formatCount(rows)} ${rows === 1 ? "row" : "rows"}: <code>${code}</code>${column !== "" && markup` in ${isolate(column)}`}</h3>
${means !== null && markup`<p>${capitalize(means)}.${hint !== null && markup` <strong>${capitalize(hint)}.</strong>`}</p>`}
<section class="wide" aria-label="Examples of ${code}${column !== "" && ` in ${column}`}" tabindex="0">
<table>
<thead><tr><th scope="col" class="number">Line</th><th scope="col">Value</th><th scope="col">Reason</th></tr></thead>
<tbody>
${examples.map(
  ({ line, value, reason }) =>
    markup`<tr><td class="number">${formatCount(line)}</td><td>${value === null ? "(entire row)" : value === "" ? "(empty)" : isolate(value)}</td><td>${isolate(reason)}</td></tr>\n`,
)}</tbody>
</table>
</section>
</article>`;
}

function renderFollowUp({ verified, undone }: ReportedRun): Html {
  if (!verified && !undone) return markup``;
  return markup`<section>
<h2>Verification and undo</h2>
${verified && markup`<p>${verified.missing_count + (verified.different_count ?? 0) === 0 ? "✓ Verified" : "✗ Verification failed"}${verified.at !== null && `, ${formatTime(Date.parse(verified.at))}`}: ${formatCount(verified.checked.rows)} rows checked, ${formatCount(verified.missing_count)} missing, ${formatCount(verified.different_count ?? 0)} different values.</p>`}
${undone && markup`<p>${undone.state === "finished" ? "Undone" : "Partly undone"}, ${formatTime(Date.parse(undone.finished_at ?? undone.started_at))}: ${formatCount(undone.reversed)} rows reverted, ${formatCount(undone.kept)} kept, ${formatCount(undone.impossible)} cannot be reverted.</p>`}
</section>`;
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
