import { type Html, markup } from "../markup.ts";

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
  readonly formatValue: (value: number) => string;
}

const [width, height] = [720, 196];
/** The margins, with the numbers at the left and the times at the bottom. */
const margin = { left: 64, right: 8, top: 28, bottom: 30 } as const;
const [plotWidth, plotHeight] = [width - margin.left - margin.right, height - margin.top - margin.bottom];

/** Renders a bar chart as SVG. A table next to it must contain the numbers. */
export function renderBarChart({ id, title, description, bars, marks, formatValue }: BarChart): Html {
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
