import { type Html, markup } from "../markup.ts";
import type { ReportedPoint, ReportedRun, ReportedTimeline } from "./values.ts";

/** A chart over time. It is omitted if all its values are zero, unless `isRequired` is set. */
interface Series {
  readonly id: string;
  readonly title: string;
  readonly valueOf: (point: ReportedPoint) => number;
  readonly isRequired?: boolean;
}

const sumWaits = ({ waits }: ReportedPoint) => (waits ? waits.pace + waits.throttled + waits.retry : 0);

/** Renders charts of the run over time, and a table with their numbers. */
export function renderTimeline({ timeline }: ReportedRun): Html {
  const { points, attempts, hasPulses, intervalMs } = timeline;
  if (points.length === 0) return markup`<section><h2>Over time</h2><p>No calls were sent.</p></section>`;
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
  return markup`<section>
<h2>Over time</h2>
<p>${describeAttempts(timeline)}</p>
${!hasPulses && markup`<p>The version of starpost that ran this import did not record retries, rate limits, or waits. Calls are shown at the time of their response.</p>`}
${drawn.map((one) => renderChart(one, timeline))}
${hasPulses && empty.length > 0 && markup`<p>${describeEmpty(empty.map(({ id }) => id))}</p>`}
<details>
<summary>Show the numbers</summary>
${renderTable(timeline)}
</details>
${attempts.length > 1 && renderAttempts(timeline)}
</section>`;
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
${chart}
<figcaption><strong>${title}.</strong> ${description}</figcaption>
</figure>`;
}

/** Marks the start of every attempt but the first. */
function listMarks({ attempts, points, intervalMs }: ReportedTimeline): ChartMark[] {
  return attempts.slice(1).map(({ from }) => {
    const index = points.findIndex(({ at }) => at + intervalMs > from);
    return { barIndex: Math.max(0, index), name: `resumed ${formatClock(from)}` };
  });
}

function renderTable({ points, hasPulses }: ReportedTimeline): Html {
  const head = ["Rows", "Calls", ...(hasPulses ? ["Retried", "Rate limited", "Waited (s)"] : [])];
  const listCells = (point: ReportedPoint) => [
    point.rows,
    point.calls,
    ...(hasPulses ? [point.retried ?? 0, point.throttled ?? 0, sumWaits(point) / 1_000] : []),
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
<section class="wide" aria-label="Attempts" tabindex="0">
<table>
<thead><tr><th scope="col">Start</th><th scope="col">End</th><th scope="col" class="number">Rows processed</th><th scope="col">Result</th></tr></thead>
<tbody>
${attempts.map(
  ({ from, to, rows, isEnded }) =>
    markup`<tr><th scope="row" class="time">${formatTime(from)}</th><td class="time">${formatTime(to)}</td><td class="number">${formatCount(rows)}</td><td>${isEnded ? "ended normally" : "killed or still running"}</td></tr>\n`,
)}</tbody>
</table>
</section>`;
}

const number = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 });

export function formatCount(value: number): string {
  return number.format(value);
}

/** `2026-01-31 12:00:05 UTC`. */
export function formatTime(ms: number): string {
  return Number.isFinite(ms) ? `${new Date(ms).toISOString().slice(0, 19).replace("T", " ")} UTC` : "unknown";
}

/** `12:00:05`. */
function formatClock(ms: number): string {
  return new Date(ms).toISOString().slice(11, 19);
}

export function formatDuration(ms: number): string {
  const seconds = ms / 1_000;
  if (seconds < 60) return `${number.format(seconds)} s`;
  const rounded = Math.round(seconds);
  const [hours, minutes] = [Math.floor(rounded / 3_600), Math.floor((rounded % 3_600) / 60)];
  return hours > 0 ? `${number.format(hours)} h ${minutes} min` : `${minutes} min ${rounded % 60} s`;
}

export function formatSize(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB"] as const;
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${number.format(bytes / 1_000 ** power)} ${units[power] ?? ""}`;
}

interface Bar {
  /** The start of the interval. */
  readonly name: string;
  readonly value: number;
}

/** An event between two bars. */
interface ChartMark {
  /** The index of the first bar after the event. */
  readonly barIndex: number;
  readonly name: string;
}

interface BarChart {
  /** Unique within the page; letters, digits, and `-`. */
  readonly id: string;
  readonly title: string;
  /** The alternative text. */
  readonly description: string;
  readonly bars: readonly Bar[];
  readonly marks: readonly ChartMark[];
  readonly formatValue: (value: number) => string;
}

const [width, height] = [720, 196];
/** The margins, with the numbers at the left and the times at the bottom. */
const margin = { left: 64, right: 8, top: 28, bottom: 30 } as const;
const [plotWidth, plotHeight] = [width - margin.left - margin.right, height - margin.top - margin.bottom];

/** Renders a bar chart as SVG. A table next to it must contain the numbers. */
function renderBarChart({ id, title, description, bars, marks, formatValue }: BarChart): Html {
  const top = roundUp(Math.max(0, ...bars.map(({ value }) => value)));
  const step = plotWidth / Math.max(1, bars.length);
  const rects = bars.map(({ value }, at) => renderBar(value / top, at, step));
  const levels = [0, top / 2, top].map((level) => {
    const y = round(margin.top + plotHeight * (1 - level / top));
    return markup`<path class="grid" d="M${margin.left} ${y}H${width - margin.right}"/><text class="level" x="${margin.left - 8}" y="${y + 4}">${formatValue(level)}</text>`;
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
