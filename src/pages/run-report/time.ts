import { drawBarPlot, type PlotMark } from "./bar-chart.ts";
import { type Html, markup } from "../markup.ts";
import type { ReportedPoint, ReportedRun, ReportedTimeline } from "./values.ts";
import { formatClock, formatCount, formatLength, formatTime } from "./format.ts";

/** What is drawn of a run's time, if there was any of it. */
interface Series {
  readonly id: string;
  readonly title: string;
  readonly of: (point: ReportedPoint) => number;
  readonly isAlwaysDrawn?: boolean;
}

const waitsOf = ({ waits }: ReportedPoint) => (waits ? waits.pace + waits.throttled + waits.retry : 0);

/** When a run did what: plots, and the table behind them. */
export function renderTimeline({ timeline }: ReportedRun): Html {
  const { points, attempts, hasPulses, intervalMs } = timeline;
  if (points.length === 0) return markup`<section><h2>Over time</h2><p>Nothing was sent.</p></section>`;
  const each = formatLength(intervalMs);
  const series: Series[] = [
    { id: "rows", title: `Rows settled, each ${each}`, of: ({ rows }) => rows, isAlwaysDrawn: true },
    { id: "calls", title: `Calls sent, each ${each}`, of: ({ calls }) => calls, isAlwaysDrawn: true },
    { id: "retried", title: `Calls repeated, each ${each}`, of: ({ retried }) => retried ?? 0 },
    {
      id: "throttled",
      title: `Times held back by a limit of the service, each ${each}`,
      of: ({ throttled }) => throttled ?? 0,
    },
    {
      id: "waits",
      title: `Seconds that calls were told to wait, each ${each}`,
      of: (point) => waitsOf(point) / 1_000,
    },
  ];
  const drawn = series.filter(
    ({ of, isAlwaysDrawn }) => isAlwaysDrawn || points.some((point) => of(point) > 0),
  );
  const silent = series.filter((one) => !drawn.includes(one));
  return markup`<section>
<h2>Over time</h2>
<p>${describeAttempts(timeline)}</p>
${!hasPulses && markup`<p>The version that ran this import wrote down neither when calls were repeated or held back, nor how long they waited; calls are shown when they were answered.</p>`}
${drawn.map((one) => renderPlot(one, timeline))}
${hasPulses && silent.length > 0 && markup`<p>${describeSilence(silent.map(({ id }) => id))}</p>`}
<details>
<summary>The numbers behind the plots</summary>
${renderTable(timeline)}
</details>
${attempts.length > 1 && renderAttempts(timeline)}
</section>`;
}

function describeAttempts({ attempts, points }: ReportedTimeline): string {
  const [from, to] = [attempts[0]?.from ?? 0, attempts.at(-1)?.to ?? 0];
  const pauses =
    attempts.length > 1 ? " Times between the attempts are left out; a line marks where it was resumed." : "";
  return `From ${formatTime(from)} to ${formatTime(to)}, in ${formatCount(points.length)} ${points.length === 1 ? "interval" : "intervals"}.${pauses}`;
}

function describeSilence(ids: readonly string[]): string {
  const words: Readonly<Record<string, string>> = {
    retried: "No call was repeated.",
    throttled: "No limit of the service held anything back.",
    waits: "No call was told to wait for a second or more.",
  };
  return ids.map((id) => words[id] ?? "").join(" ");
}

function renderPlot({ id, title, of }: Series, timeline: ReportedTimeline): Html {
  const { points } = timeline;
  const values = points.map(of);
  const most = Math.max(...values);
  const sum = values.reduce((total, value) => total + value, 0);
  const mostAt = points[values.indexOf(most)]?.at ?? 0;
  const description = `${formatCount(sum)} in all; the most, ${formatCount(most)}, at ${formatTime(mostAt)}.`;
  const bars = points.map((point) => ({ name: formatClock(point.at), value: of(point) }));
  const plot = drawBarPlot({
    id: `plot-${id}`,
    title,
    description,
    bars,
    marks: marksOf(timeline),
    word: formatCount,
  });
  return markup`<figure>
${plot}
<figcaption><strong>${title}.</strong> ${description}</figcaption>
</figure>`;
}

/** Where attempts after the first begin. */
function marksOf({ attempts, points, intervalMs }: ReportedTimeline): PlotMark[] {
  return attempts.slice(1).map(({ from }) => {
    const before = points.findIndex(({ at }) => at + intervalMs > from);
    return { before: Math.max(0, before), name: `resumed ${formatClock(from)}` };
  });
}

function renderTable({ points, hasPulses }: ReportedTimeline): Html {
  const head = ["rows", "calls", ...(hasPulses ? ["repeated", "held back", "waited, s"] : [])];
  const cellsOf = (point: ReportedPoint) => [
    point.rows,
    point.calls,
    ...(hasPulses ? [point.retried ?? 0, point.throttled ?? 0, waitsOf(point) / 1_000] : []),
  ];
  return markup`<section class="wide" aria-label="Numbers over time" tabindex="0">
<table>
<thead><tr><th scope="col">from</th>${head.map((name) => markup`<th scope="col" class="number">${name}</th>`)}</tr></thead>
<tbody>
${points.map(
  (point) =>
    markup`<tr><th scope="row" class="time">${formatTime(point.at)}</th>${cellsOf(point).map((value) => markup`<td class="number">${formatCount(value)}</td>`)}</tr>\n`,
)}</tbody>
</table>
</section>`;
}

function renderAttempts({ attempts }: ReportedTimeline): Html {
  return markup`<h3>Attempts</h3>
<section class="wide" aria-label="Attempts" tabindex="0">
<table>
<thead><tr><th scope="col">from</th><th scope="col">to</th><th scope="col" class="number">rows settled</th><th scope="col">ended</th></tr></thead>
<tbody>
${attempts.map(
  ({ from, to, rows, isEnded }) =>
    markup`<tr><th scope="row" class="time">${formatTime(from)}</th><td class="time">${formatTime(to)}</td><td class="number">${formatCount(rows)}</td><td>${isEnded ? "by itself" : "killed, or still running"}</td></tr>\n`,
)}</tbody>
</table>
</section>`;
}
