import { type Html, markup } from "../markup.ts";

/** One interval of a plot. */
export interface Bar {
  /** What the interval is called: its beginning. */
  readonly name: string;
  readonly value: number;
}

/** Something that happened between two bars. */
export interface PlotMark {
  /** The first bar behind it. */
  readonly before: number;
  readonly name: string;
}

export interface BarPlot {
  /** Unique on its page; of letters, digits and `-`. */
  readonly id: string;
  readonly title: string;
  /** What the plot shows, for who cannot see it. */
  readonly description: string;
  readonly bars: readonly Bar[];
  readonly marks: readonly PlotMark[];
  /** A value as a person reads it. */
  readonly word: (value: number) => string;
}

const [width, height] = [720, 196];
/** Around the bars: room for numbers at the left, and for times below. */
const edge = { left: 64, right: 8, top: 28, bottom: 30 } as const;
const [room, tall] = [width - edge.left - edge.right, height - edge.top - edge.bottom];

/** Bars over time, as a picture that stands by itself; the numbers belong in a table beside it. */
export function drawBarPlot({ id, title, description, bars, marks, word }: BarPlot): Html {
  const top = roundUp(Math.max(0, ...bars.map(({ value }) => value)));
  const step = room / Math.max(1, bars.length);
  const drawn = bars.map(({ value }, at) => drawBar(value / top, at, step));
  const levels = [0, top / 2, top].map((level) => {
    const y = round(edge.top + tall * (1 - level / top));
    return markup`<path class="grid" d="M${edge.left} ${y}H${width - edge.right}"/><text class="level" x="${edge.left - 8}" y="${y + 4}">${word(level)}</text>`;
  });
  const [first, last] = [bars[0]?.name ?? "", bars.at(-1)?.name ?? ""];
  return markup`<svg viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="${id}-title ${id}-desc">
<title id="${id}-title">${title}</title>
<desc id="${id}-desc">${description}</desc>
${levels}
<g class="bars">${drawn}</g>
${marks.map((mark) => drawMark(mark, step))}
<text x="${edge.left}" y="${height - 6}">${first}</text>
${bars.length > 1 && markup`<text class="last" x="${width - edge.right}" y="${height - 6}">${last}</text>`}
</svg>`;
}

/** What is more than nothing is always seen. */
function drawBar(part: number, at: number, step: number): Html | false {
  if (part <= 0) return false;
  const high = Math.max(1, part * tall);
  const wide = Math.max(0.5, step * 0.85);
  const x = round(edge.left + at * step + (step - wide) / 2);
  return markup`<rect x="${x}" y="${round(edge.top + tall - high)}" width="${round(wide)}" height="${round(high)}"/>`;
}

function drawMark({ before, name }: PlotMark, step: number): Html {
  const x = round(edge.left + before * step);
  // Beside the line, on the side where there is more room.
  const isLate = x > width / 2;
  return markup`<path class="mark" d="M${x} ${edge.top - 6}V${edge.top + tall}"/><text class="${isLate ? "last" : "first"}" x="${isLate ? x - 4 : x + 4}" y="${edge.top - 6}">${name}</text>`;
}

/** The next number that halves well. */
function roundUp(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const steps = [1, 2, 4, 5, 6, 8, 10];
  return (steps.find((step) => step * power >= value) ?? 10) * power;
}

function round(value: number): number {
  return Number(value.toFixed(1));
}
