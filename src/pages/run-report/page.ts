import { createHash } from "node:crypto";
import { apart } from "../bidi.ts";
import { type Html, markup, render, trusted } from "../markup.ts";
import { renderTimeline } from "./time.ts";
import { reportStyle } from "./style.ts";
import type { ReportedReason, ReportedRun } from "./values.ts";
import { formatCount, formatLength, formatSize, formatTime } from "./format.ts";

/** How a page of ours begins, by which it is known again. */
export const reportMark = "<!-- starpost import report -->";

const styleHash = createHash("sha256").update(reportStyle).digest("base64");

/** Nothing is loaded, sent or run. */
const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'`;

/** A page about one run that needs nothing beside itself: to be kept, sent on, and printed. */
export function renderRunReport(run: ReportedRun): string {
  const { summary } = run;
  return render(markup`<!DOCTYPE html>
${trusted(reportMark)}
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
<p class="state ${summary.state}">${stateWords[summary.state]}</p>
${renderCounts(run)}
${renderFacts(run)}
${renderFiles(run)}
${renderReasons(run)}
${renderTimeline(run)}
${renderAfterwards(run)}
</main>
</body>
</html>
`);
}

/** The state in words, with a sign: colour alone says nothing. */
const stateWords = {
  finished: "✓ Finished",
  running: "… Still running",
  interrupted: "! Interrupted; it can be resumed",
  stopped: "! Stopped by --max-errors; it can be resumed",
  failed: "✗ Failed; it can be resumed",
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
${tile(calls.sent, "calls sent")}
${tile(calls.retried, "calls repeated", "warn")}
${tile(calls.throttled, "times held back by a limit", "warn")}
</dl>`;
}

function renderFacts(run: ReportedRun): Html {
  const { summary, profile, target, version, ended_at, options, timeline } = run;
  const resumes = timeline.attempts.length - 1;
  const facts: (readonly [string, Html | string])[] = [
    ["Import", markup`<code>${summary.import_id ?? ""}</code>`],
    ["Into", apart(target)],
    ["Profile", apart(profile)],
    ["Began", formatTime(Date.parse(summary.started_at))],
    ["Ended", ended_at === null ? "never began" : formatTime(Date.parse(ended_at))],
    ["Time at work", formatLength(summary.duration_ms)],
    ["Resumed", resumes < 1 ? "never" : resumes === 1 ? "once" : `${formatCount(resumes)} times`],
    ["Begun by", `starpost ${version}`],
    ...Object.entries(options).map(([flag, value]) => [flag, apart(value)] as const),
  ];
  return markup`<section>
<h2>What, when and where</h2>
<dl class="facts">
${facts.map(([name, value]) => markup`<div><dt>${name}</dt><dd>${value}</dd></div>\n`)}</dl>
</section>`;
}

function renderFiles({ files }: ReportedRun): Html {
  return markup`<section>
<h2>Files</h2>
<section class="wide" aria-label="Files" tabindex="0">
<table>
<thead><tr><th scope="col">file</th><th scope="col" class="number">size</th><th scope="col">encoding</th><th scope="col">SHA-256 of its bytes</th></tr></thead>
<tbody>
${files.map(
  ({ file, size_bytes, encoding, sha256 }) =>
    markup`<tr><th scope="row">${apart(file === "-" ? "standard input" : file)}</th><td class="number">${formatSize(size_bytes)}</td><td>${encoding}</td><td><code>${sha256}</code></td></tr>\n`,
)}</tbody>
</table>
</section>
</section>`;
}

function renderReasons({ reasons, rows_without_reason: without, summary }: ReportedRun): Html {
  const lost = summary.rows.rejected + summary.rows.failed;
  if (lost === 0) return markup`<section><h2>Rejected rows</h2><p>None: every row was taken.</p></section>`;
  return markup`<section>
<h2>Rejected rows, by reason</h2>
${summary.rejects_file !== null && markup`<p>All of them, as they stood in the file: ${apart(summary.rejects_file)}. Correct them and import that file.</p>`}
${without > 0 && markup`<p>Of ${formatCount(without)} of these rows it is not known why: the import did not come to its end, and a resume writes them down.</p>`}
${reasons.map((reason) => renderReason(reason))}
</section>`;
}

function renderReason({ code, column, rows, means, hint, examples }: ReportedReason): Html {
  return markup`<article class="reason">
<h3>${formatCount(rows)} ${rows === 1 ? "row" : "rows"}: <code>${code}</code>${column !== "" && markup` in ${apart(column)}`}</h3>
${means !== null && markup`<p>${capitalise(means)}.${hint !== null && markup` <strong>${capitalise(hint)}.</strong>`}</p>`}
<section class="wide" aria-label="Examples of ${code}${column !== "" && ` in ${column}`}" tabindex="0">
<table>
<thead><tr><th scope="col" class="number">line</th><th scope="col">value</th><th scope="col">what was said</th></tr></thead>
<tbody>
${examples.map(
  ({ line, value, reason }) =>
    markup`<tr><td class="number">${formatCount(line)}</td><td>${value === null ? "the whole row" : value === "" ? "(empty)" : apart(value)}</td><td>${apart(reason)}</td></tr>\n`,
)}</tbody>
</table>
</section>
</article>`;
}

function renderAfterwards({ verified, undone }: ReportedRun): Html {
  if (!verified && !undone) return markup``;
  return markup`<section>
<h2>Afterwards</h2>
${verified && markup`<p>${verified.missing_count === 0 ? "✓ Verified" : "✗ Verified, and not all is there"}${verified.at !== null && `, ${formatTime(Date.parse(verified.at))}`}: of ${formatCount(verified.checked.rows)} rows that were looked for, ${formatCount(verified.missing_count)} ${verified.missing_count === 1 ? "was" : "were"} not as the import said.</p>`}
${undone && markup`<p>${undone.state === "finished" ? "Undone" : "Partly undone"}, ${formatTime(Date.parse(undone.finished_at ?? undone.started_at))}: ${formatCount(undone.reversed)} rows reversed, ${formatCount(undone.kept)} kept, ${formatCount(undone.impossible)} that cannot be.</p>`}
</section>`;
}

function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
