import { createHash } from "node:crypto";
import { isolate } from "../bidi.ts";
import { type Html, markup, render, trusted } from "../markup.ts";
import { formatDuration, formatShare, formatSize, formatTime } from "./format.ts";
import { countOf, formatNumber } from "../../terminal/plural.ts";
import { renderReasons } from "./reasons.ts";
import { reportStyle } from "./style.ts";
import { renderTimeline } from "./timeline.ts";
import type { RunReport } from "../../import/report/run-report.ts";
import { renderVerdict, titleOf } from "./verdict.ts";

/** Identifies a file as a report that may be overwritten. */
export const reportMarker = "<!-- starpost import report -->";

const styleHash = createHash("sha256").update(reportStyle).digest("base64");

/** The page loads, sends, and runs nothing. */
const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'`;

/** Renders a self-contained page about an import run, which can be archived, sent, and printed. */
export function renderRunReport(run: RunReport): string {
  const [subject = "", names = "", more = ""] = titleOf(run);
  return render(markup`<!DOCTYPE html>
${trusted(reportMarker)}
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${trusted(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${subject}${names}${more}</title>
<style>${trusted(reportStyle)}</style>
</head>
<body>
<main>
<h1>${subject}${isolate(names)}${more}</h1>
${renderVerdict(run)}
${renderCounts(run)}
${renderReasons(run)}
${renderNotices(run)}
${renderFixedIds(run)}
${renderTimeline(run)}
${renderFacts(run)}
${renderFollowUp(run)}
${renderFiles(run)}
</main>
</body>
</html>
`);
}

function renderCounts({ summary: { rows } }: RunReport): Html {
  const tile = (value: number, name: string, tone: string, share: boolean) =>
    markup`<div class="tile ${value > 0 ? tone : ""}"><dt>${name}</dt><dd>${formatNumber(value)}${share && value > 0 && markup` <small>${formatShare(value, rows.read)}</small>`}</dd></div>
`;
  return markup`<dl class="tiles">
${tile(rows.read, "rows read", "", false)}${tile(rows.accepted, "accepted", "good", true)}${tile(rows.rejected, "rejected", rows.rejected * 2 >= rows.read ? "bad" : "warn", true)}${tile(rows.failed, "failed", "bad", true)}</dl>`;
}

function renderNotices({ notices }: RunReport): Html | false {
  if (notices.length === 0) return false;
  return markup`<section>
<h2>About the rows</h2>
<ul>
${notices.map((message) => markup`<li>${isolate(message.charAt(0).toUpperCase() + message.slice(1))}</li>\n`)}</ul>
</section>`;
}

function renderFixedIds({ fixed_ids: { count, examples }, summary }: RunReport): Html | false {
  if (count === 0) return false;
  const more = count - examples.length;
  return markup`<section>
<h2>Rewritten IDs (${formatNumber(count)})</h2>
<table>
<thead><tr><th scope="col">In the file</th><th scope="col">Sent</th></tr></thead>
<tbody>
${examples.map(([given, sent]) => markup`<tr><td class="value">${isolate(given)}</td><td class="value">${isolate(sent)}</td></tr>\n`)}</tbody>
</table>
${more > 0 && markup`<p>${formatNumber(more)} more are in ${isolate(summary.fixed_ids_file ?? "")}.</p>`}
</section>`;
}

function renderFacts(run: RunReport): Html {
  const { summary, profile, target, version, ended_at, options, timeline } = run;
  const resumes = timeline.attempts.length - 1;
  const facts: (readonly [string, Html | string])[] = [
    ["Import ID", markup`<code>${summary.import_id ?? ""}</code>`],
    ["Target", isolate(target)],
    ["Profile", isolate(profile)],
    ["Started", formatTime(Date.parse(summary.started_at))],
    ["Ended", ended_at === null ? "not started" : formatTime(Date.parse(ended_at))],
    ["Running time", formatDuration(summary.duration_ms)],
    ["Records", describeRecords(summary.items)],
    ["Calls", describeCalls(summary.calls)],
    ["Resumed", resumes < 1 ? "no" : resumes === 1 ? "once" : `${formatNumber(resumes)} times`],
    ["Version", `starpost ${version}`],
    ...Object.entries(options).map(([flag, value]) => [flag, isolate(value)] as const),
  ];
  return markup`<section>
<h2>Details</h2>
<dl class="facts">
${facts.map(([name, value]) => markup`<div><dt>${name}</dt><dd>${value}</dd></div>\n`)}</dl>
</section>`;
}

function describeRecords({ accepted, created, changed, unchanged }: RunReport["summary"]["items"]): string {
  const stored = `${formatNumber(accepted)} accepted`;
  if (created === null || changed === null || unchanged === null || accepted === 0) return stored;
  return `${stored}: ${formatNumber(created)} created, ${formatNumber(changed)} changed, ${formatNumber(unchanged)} unchanged`;
}

function describeCalls({ sent, retried, throttled }: RunReport["summary"]["calls"]): string {
  const notes = [
    ...(retried > 0 ? [`${formatNumber(retried)} retried`] : []),
    ...(throttled > 0 ? [`${formatNumber(throttled)} rate limited`] : []),
  ];
  return `${formatNumber(sent)} sent${notes.length > 0 ? ` (${notes.join(", ")})` : ""}`;
}

function renderFiles({ files }: RunReport): Html {
  return markup`<section>
<h2>${files.length > 1 ? `Files (${formatNumber(files.length)})` : "File"}</h2>
<ul class="files">
${files.map(
  ({ file, size_bytes, encoding, sha256 }) =>
    markup`<li>${isolate(file === "-" ? "standard input" : file)}<br><span class="about">${formatSize(size_bytes)}, ${encoding}, SHA-256 <code>${sha256}</code></span></li>\n`,
)}</ul>
</section>`;
}

function renderFollowUp({ verified, undone }: RunReport): Html {
  if (!verified && !undone) return markup``;
  return markup`<section>
<h2>Verification and undo</h2>
${verified && markup`<p>${verified.missing_count + (verified.different_count ?? 0) === 0 ? "✓ Verified" : "✗ Verification failed"}${verified.at !== null && `, ${formatTime(Date.parse(verified.at))}`}: ${countOf(verified.checked.rows, "row")} checked, ${formatNumber(verified.missing_count)} missing, ${formatNumber(verified.different_count ?? 0)} different values.</p>`}
${undone && markup`<p>${undone.state === "finished" ? "Undone" : "Partly undone"}, ${formatTime(Date.parse(undone.finished_at ?? undone.started_at))}: ${countOf(undone.reversed, "row")} reverted, ${formatNumber(undone.kept)} kept, ${formatNumber(undone.impossible)} cannot be reverted.</p>`}
</section>`;
}
