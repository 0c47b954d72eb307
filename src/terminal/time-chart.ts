import { formatNumber } from "./plural.ts";
import { alignRows } from "./sections.ts";

/** Values at consecutive times. */
export interface Series {
  readonly name: string;
  readonly values: readonly number[];
}

const levels = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"] as const;
const zero = "·";
const gap = 2;
/** The minimum width of a chart, however narrow the terminal. */
const minColumns = 10;

/**
 * Draws one line per series: its name, its total, a bar for each time, and the highest value. Each line has its own
 * scale, because on a common scale, few bounces next to many sent emails would be invisible.
 * @param span the names of the first and the last time
 * @returns lines no wider than `width`. If the times do not fit, each bar is the sum of several.
 */
export function drawTimeChart(
  series: readonly Series[],
  span: readonly [first: string, last: string],
  width: number,
): readonly string[] {
  const nameWidth = Math.max(...series.map(({ name }) => name.length));
  const totals = series.map(({ values }) => formatNumber(sum(values)));
  const totalWidth = Math.max(...totals.map((text) => text.length));
  const indent = " ".repeat(nameWidth + totalWidth + 2 * gap);
  const available = Math.max(minColumns, width - indent.length - gap - "≤ ".length - totalWidth);
  const timeCount = Math.max(...series.map(({ values }) => values.length));
  const perColumn = Math.ceil(timeCount / available);
  const rows = series.map(({ name, values }, at) => {
    const columns = group(values, perColumn);
    const max = Math.max(...columns);
    const drawn = columns.map((value) => draw(value, max)).join("");
    return [name, totals[at] ?? "", drawn, `≤ ${formatNumber(max)}`];
  });
  const note = perColumn === 1 ? [] : [`${indent}one bar is the sum of ${perColumn}`];
  return [`${indent}${span.join(" to ")}`, ...alignRows(rows, { indent: "", rightColumn: 1 }), ...note];
}

function group(values: readonly number[], size: number): readonly number[] {
  return Array.from({ length: Math.ceil(values.length / size) }, (_, at) =>
    sum(values.slice(at * size, (at + 1) * size)),
  );
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Any value above zero is visible. */
function draw(value: number, max: number): string {
  if (value <= 0) return zero;
  return levels[Math.min(levels.length - 1, Math.ceil((value / max) * levels.length) - 1)] ?? zero;
}
