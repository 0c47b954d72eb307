import { formatNumber } from "./plural.ts";

/** A number that was counted for each of some times that follow each other. */
export interface Series {
  readonly name: string;
  readonly values: readonly number[];
}

const levels = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"] as const;
const nothing = "·";
const gap = 2;
/** Columns that a chart has at least, however narrow the screen. */
const fewestColumns = 10;

/**
 * Draws numbers over time, a line each: its name, its sum, a column for each time, and the highest of them. Each line
 * has a scale of its own, since mails that were sent and those that bounced would not show on one.
 * @param span what the first and the last of the times are called
 * @returns lines no wider than `width`; where the times are more than fit, a column stands for several
 */
export function drawTimeChart(
  series: readonly Series[],
  span: readonly [first: string, last: string],
  width: number,
): readonly string[] {
  const names = Math.max(...series.map(({ name }) => name.length));
  const totals = series.map(({ values }) => formatNumber(sum(values)));
  const sums = Math.max(...totals.map((text) => text.length));
  const indent = " ".repeat(names + sums + 2 * gap);
  const room = Math.max(fewestColumns, width - indent.length - gap - "≤ ".length - sums);
  const times = Math.max(...series.map(({ values }) => values.length));
  const perColumn = Math.ceil(times / room);
  const lines = series.map(({ name, values }, at) => {
    const columns = group(values, perColumn);
    const most = Math.max(...columns);
    const drawn = columns.map((value) => draw(value, most)).join("");
    const parts = [name.padEnd(names), (totals[at] ?? "").padStart(sums), drawn, `≤ ${formatNumber(most)}`];
    return parts.join(" ".repeat(gap));
  });
  const note = perColumn === 1 ? [] : [`${indent}a column stands for ${perColumn} of them`];
  return [`${indent}${span.join(" to ")}`, ...lines, ...note];
}

function group(values: readonly number[], size: number): readonly number[] {
  return Array.from({ length: Math.ceil(values.length / size) }, (_, at) =>
    sum(values.slice(at * size, (at + 1) * size)),
  );
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** What is more than nothing is always seen. */
function draw(value: number, most: number): string {
  if (value <= 0) return nothing;
  return levels[Math.min(levels.length - 1, Math.ceil((value / most) * levels.length) - 1)] ?? nothing;
}
