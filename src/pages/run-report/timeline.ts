import { type Html, markup } from "../markup.ts";
import { type ChartMark, renderBarChart } from "./bar-chart.ts";
import { countOf, formatClock, formatCount, formatDuration, formatTime } from "./format.ts";
import type { ReportedPoint, ReportedRun, ReportedTimeline } from "./values.ts";

/** A chart over time. It is omitted if all its values are zero, unless `isRequired` is set. */
interface Series {
  readonly id: string;
  readonly title: string;
  readonly valueOf: (point: ReportedPoint) => number;
  readonly isRequired?: boolean;
}

const sumWaits = ({ waits }: ReportedPoint) => (waits ? waits.pace + waits.throttled + waits.retry : 0);

/** A run with fewer intervals is described in a sentence: bars would show nothing more. */
const minIntervals = 10;

/** Renders charts of a long run over time, and a table with their numbers. */
export function renderTimeline(run: ReportedRun): Html {
  const { timeline } = run;
  const { points, attempts } = timeline;
  return markup`<section>
<h2>Over time</h2>
${points.length < minIntervals ? markup`<p>${describeShortRun(run)}</p>` : renderCharts(timeline)}
${attempts.length > 1 && renderAttempts(timeline)}
</section>`;
}

function describeShortRun({ summary: { calls, rows, duration_ms }, timeline: { attempts } }: ReportedRun): string {
  if (calls.sent === 0) return "No calls were sent.";
  const resumed = attempts.length > 1 ? ` in ${attempts.length} attempts` : "";
  return `${countOf(rows.read, "row")} in ${countOf(calls.sent, "call")}, within ${formatDuration(duration_ms)}${resumed}. Longer runs have charts here.`;
}

function renderCharts(timeline: ReportedTimeline): Html {
  const { points, hasHeartbeats, intervalMs } = timeline;
  const interval = formatDuration(intervalMs);
  const series: Series[] = [
    { id: "rows", title: `Rows processed per ${interval}`, valueOf: ({ rows }) => rows, isRequired: true },
    { id: "calls", title: `Calls sent per ${interval}`, valueOf: ({ calls }) => calls, isRequired: true },
    { id: "retried", title: `Calls retried per ${interval}`, valueOf: ({ retried }) => retried ?? 0 },
    {
      id: "throttled",
      title: `Calls rate limited per ${interval}`,
      valueOf: ({ throttled }) => throttled ?? 0,
    },
    { id: "waits", title: `Seconds waited per ${interval}`, valueOf: (point) => sumWaits(point) / 1_000 },
  ];
  const drawn = series.filter(({ valueOf, isRequired }) => isRequired || points.some((point) => valueOf(point) > 0));
  const empty = series.filter((one) => !drawn.includes(one));
  return markup`<p>${describeAttempts(timeline)}</p>
${!hasHeartbeats && markup`<p>The version of starpost that ran this import did not record retries, rate limits, or waits. Calls are shown at the time of their response.</p>`}
${drawn.map((one) => renderChart(one, timeline))}
${hasHeartbeats && empty.length > 0 && markup`<p>${describeEmpty(empty.map(({ id }) => id))}</p>`}
<details>
<summary>Show the numbers</summary>
${renderTable(timeline)}
</details>`;
}

function describeAttempts({ attempts, points }: ReportedTimeline): string {
  const [from, to] = [attempts[0]?.from ?? 0, attempts.at(-1)?.to ?? 0];
  const pauses =
    attempts.length > 1
      ? " Dashed lines mark where the import was resumed; the time between attempts is not shown."
      : "";
  return `From ${formatTime(from)} to ${formatTime(to)}, in ${formatCount(points.length)} ${points.length === 1 ? "interval" : "intervals"}.${pauses}`;
}

function describeEmpty(ids: readonly string[]): string {
  const texts: Readonly<Record<string, string>> = {
    retried: "No calls were retried.",
    throttled: "No calls were rate limited.",
    waits: "No calls waited for a second or longer.",
  };
  return ids.map((id) => texts[id] ?? "").join(" ");
}

function renderChart({ id, title, valueOf }: Series, timeline: ReportedTimeline): Html {
  const { points } = timeline;
  const values = points.map(valueOf);
  const max = Math.max(...values);
  const sum = values.reduce((total, value) => total + value, 0);
  const maxAt = points[values.indexOf(max)]?.at ?? 0;
  const description = `Total ${formatCount(sum)}; maximum ${formatCount(max)} at ${formatTime(maxAt)}.`;
  const bars = points.map((point) => ({ name: formatClock(point.at), value: valueOf(point) }));
  const chart = renderBarChart({
    id: `chart-${id}`,
    title,
    description,
    bars,
    marks: listMarks(timeline),
    formatValue: formatCount,
  });
  return markup`<figure>
<figcaption><strong>${title}.</strong> ${description}</figcaption>
${chart}
</figure>`;
}

/** Marks the start of every attempt but the first. */
function listMarks({ attempts, points, intervalMs }: ReportedTimeline): ChartMark[] {
  return attempts.slice(1).map(({ from }) => {
    const index = points.findIndex(({ at }) => at + intervalMs > from);
    return { barIndex: Math.max(0, index), name: `resumed ${formatClock(from)}` };
  });
}

function renderTable({ points, hasHeartbeats }: ReportedTimeline): Html {
  const head = ["Rows", "Calls", ...(hasHeartbeats ? ["Retried", "Rate limited", "Waited (s)"] : [])];
  const listCells = (point: ReportedPoint) => [
    point.rows,
    point.calls,
    ...(hasHeartbeats ? [point.retried ?? 0, point.throttled ?? 0, sumWaits(point) / 1_000] : []),
  ];
  return markup`<section class="wide" aria-label="Numbers over time" tabindex="0">
<table>
<thead><tr><th scope="col">Start</th>${head.map((name) => markup`<th scope="col" class="number">${name}</th>`)}</tr></thead>
<tbody>
${points.map(
  (point) =>
    markup`<tr><th scope="row" class="time">${formatTime(point.at)}</th>${listCells(point).map((value) => markup`<td class="number">${formatCount(value)}</td>`)}</tr>\n`,
)}</tbody>
</table>
</section>`;
}

function renderAttempts({ attempts }: ReportedTimeline): Html {
  return markup`<h3>Attempts</h3>
<ol class="files">
${attempts.map(
  ({ from, to, rows, isEnded }) =>
    markup`<li>${formatTime(from)} to ${formatTime(to)}<br><span class="about">${countOf(rows, "row")} processed; ${isEnded ? "ended normally" : "killed or still running"}</span></li>\n`,
)}</ol>`;
}
