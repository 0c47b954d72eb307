import { type Html, markup } from "../markup.ts";
import { formatClock, formatDecimal, formatDuration, formatTime } from "./format.ts";
import { countOf } from "../../terminal/plural.ts";
import type { RunReport, Timeline, TimelinePoint } from "../../import/report/run-report.ts";

/** A chart over time. It is omitted if all its values are zero, unless `isRequired` is set. */
interface Series {
  readonly id: string;
  readonly title: string;
  readonly valueOf: (point: TimelinePoint) => number;
  readonly isRequired?: boolean;
}

const sumWaits = ({ waits }: TimelinePoint) => (waits ? waits.pace + waits.throttled + waits.retry : 0);

/** A run with fewer intervals is described in a sentence: bars would show nothing more. */
const minIntervals = 10;

/** Renders charts of a long run over time, and a table with their numbers. */
export function renderTimeline(run: RunReport): Html {
  const { timeline } = run;
  const { points, attempts } = timeline;
  return markup`<section>
<h2>Over time</h2>
${points.length < minIntervals ? markup`<p>${describeShortRun(run)}</p>` : renderCharts(timeline)}
${attempts.length > 1 && renderAttempts(timeline)}
</section>`;
}

function describeShortRun({ summary: { calls, rows, duration_ms }, timeline: { attempts } }: RunReport): string {
  if (calls.sent === 0) return "No calls were sent.";
  const resumed = attempts.length > 1 ? ` in ${attempts.length} attempts` : "";
  return `${countOf(rows.read, "row")} in ${countOf(calls.sent, "call")}, within ${formatDuration(duration_ms)}${resumed}. Longer runs have charts here.`;
}

function renderCharts(timeline: Timeline): Html {
  const { points, hasHeartbeats, intervalMs } = timeline;
  const interval = formatDuration(intervalMs);
  const series: Series[] = [
    { id: "rows", title: `Rows processed per ${interval}`, valueOf: ({ rows }) => rows, isRequired: true },
    { id: "calls", title: `Calls sent per ${interval}`, valueOf: ({ calls }) => calls, isRequired: true },
    { id: "retried", title: `Calls retried per ${interval}`, valueOf: ({ retried }) => retried ?? 0 },
    { id: "throttled", title: `Calls rate limited per ${interval}`, valueOf: ({ throttled }) => throttled ?? 0 },
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

function describeAttempts({ attempts, points }: Timeline): string {
  const [from, to] = [attempts[0]?.from ?? 0, attempts.at(-1)?.to ?? 0];
  const marks = " Dashed lines mark where the import was resumed; the time between attempts is not shown.";
  const pauses = attempts.length > 1 ? marks : "";
  return `From ${formatTime(from)} to ${formatTime(to)}, in ${countOf(points.length, "interval")}.${pauses}`;
}

function describeEmpty(ids: readonly string[]): string {
  const texts: Readonly<Record<string, string>> = {
    retried: "No calls were retried.",
    throttled: "No calls were rate limited.",
    waits: "No calls waited for a second or longer.",
  };
  return ids.map((id) => texts[id] ?? "").join(" ");
}

function renderChart({ id, title, valueOf }: Series, timeline: Timeline): Html {
  const { points } = timeline;
  const values = points.map(valueOf);
  const max = Math.max(...values);
  const sum = values.reduce((total, value) => total + value, 0);
  const maxAt = points[values.indexOf(max)]?.at ?? 0;
  const description = `Total ${formatDecimal(sum)}; maximum ${formatDecimal(max)} at ${formatTime(maxAt)}.`;
  const bars = points.map((point) => ({ name: formatClock(point.at), value: valueOf(point) }));
  const chart = renderBarChart({ id: `chart-${id}`, title, description, bars, marks: listMarks(timeline) });
  return markup`<figure>
<figcaption><strong>${title}.</strong> ${description}</figcaption>
${chart}
</figure>`;
}

/** Marks the start of every attempt but the first. */
function listMarks({ attempts, points, intervalMs }: Timeline): ChartMark[] {
  return attempts.slice(1).map(({ from }) => {
    const index = points.findIndex(({ at }) => at + intervalMs > from);
    return { barIndex: Math.max(0, index), name: `resumed ${formatClock(from)}` };
  });
}

function renderTable({ points, hasHeartbeats }: Timeline): Html {
  const head = ["Rows", "Calls", ...(hasHeartbeats ? ["Retried", "Rate limited", "Waited (s)"] : [])];
  const listCells = (point: TimelinePoint) => [
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
    markup`<tr><th scope="row" class="time">${formatTime(point.at)}</th>${listCells(point).map((value) => markup`<td class="number">${formatDecimal(value)}</td>`)}</tr>\n`,
)}</tbody>
</table>
</section>`;
}

function renderAttempts({ attempts }: Timeline): Html {
  return markup`<h3>Attempts</h3>
<ol class="files">
${attempts.map(
  ({ from, to, rows, isEnded }) =>
    markup`<li>${formatTime(from)} to ${formatTime(to)}<br><span class="about">${countOf(rows, "row")} processed; ${isEnded ? "ended normally" : "killed or still running"}</span></li>\n`,
)}</ol>`;
}

export interface Bar {
  /** The start of the interval. */
  readonly name: string;
  readonly value: number;
}

/** An event between two bars. */
export interface ChartMark {
  /** The index of the first bar after the event. */
  readonly barIndex: number;
  readonly name: string;
}

export interface BarChart {
  /** Unique within the page; letters, digits, and `-`. */
  readonly id: string;
  readonly title: string;
  /** The alternative text. */
  readonly description: string;
  readonly bars: readonly Bar[];
  readonly marks: readonly ChartMark[];
}

const [width, height] = [720, 196];
/** The margins, with the numbers at the left and the times at the bottom. */
const margin = { left: 64, right: 8, top: 28, bottom: 30 } as const;
const [plotWidth, plotHeight] = [width - margin.left - margin.right, height - margin.top - margin.bottom];

/** Renders a bar chart as SVG. A table next to it must contain the numbers. */
export function renderBarChart({ id, title, description, bars, marks }: BarChart): Html {
  const top = roundUp(Math.max(0, ...bars.map(({ value }) => value)));
  const step = plotWidth / Math.max(1, bars.length);
  const rects = bars.map(({ value }, at) => renderBar(value / top, at, step));
  const levels = [0, top / 2, top].map((level) => {
    const y = round(margin.top + plotHeight * (1 - level / top));
    return markup`<path class="grid" d="M${margin.left} ${y}H${width - margin.right}"/><text class="level" x="${margin.left - 8}" y="${y + 4}">${formatDecimal(level)}</text>`;
  });
  const [first, last] = [bars[0]?.name ?? "", bars.at(-1)?.name ?? ""];
  return markup`<svg viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="${id}-title ${id}-desc">
<title id="${id}-title">${title}</title>
<desc id="${id}-desc">${description}</desc>
${levels}
<g class="bars">${rects}</g>
${marks.map((mark) => renderMark(mark, step))}
<text x="${margin.left}" y="${height - 6}">${first}</text>
${bars.length > 1 && markup`<text class="last" x="${width - margin.right}" y="${height - 6}">${last}</text>`}
</svg>`;
}

/** Any value above zero is visible. */
function renderBar(fraction: number, at: number, step: number): Html | false {
  if (fraction <= 0) return false;
  const barHeight = Math.max(1, fraction * plotHeight);
  const barWidth = Math.max(0.5, step * 0.85);
  const x = round(margin.left + at * step + (step - barWidth) / 2);
  return markup`<rect x="${x}" y="${round(margin.top + plotHeight - barHeight)}" width="${round(barWidth)}" height="${round(barHeight)}"/>`;
}

function renderMark({ barIndex, name }: ChartMark, step: number): Html {
  const x = round(margin.left + barIndex * step);
  // The label is on the side with more space.
  const isRightHalf = x > width / 2;
  return markup`<path class="mark" d="M${x} ${margin.top - 6}V${margin.top + plotHeight}"/><text class="${isRightHalf ? "last" : "first"}" x="${isRightHalf ? x - 4 : x + 4}" y="${margin.top - 6}">${name}</text>`;
}

/** Rounds up to a number that is easy to read on an axis, as is its half. */
function roundUp(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const steps = [1, 2, 4, 5, 6, 8, 10];
  return (steps.find((step) => step * power >= value) ?? 10) * power;
}

function round(value: number): number {
  return Number(value.toFixed(1));
}
