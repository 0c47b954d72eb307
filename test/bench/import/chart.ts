import type { Figure } from "../support/figures.ts";
import { round } from "../support/figures.ts";

const size = { width: 820, name: 430, bar: 300, row: 30, top: 64 } as const;

/**
 * Draws the speeds of each part as bars, starpost's highlighted, with the ratio to each competitor.
 * @returns an SVG document
 */
export function drawChart(figures: readonly Figure[]): string {
  const parts = [...new Set(figures.filter(({ unit }) => unit === "rows/s").map(({ part }) => part))];
  const lines: string[] = [];
  let y = size.top;
  for (const part of parts) {
    const speeds = figures.filter((found) => found.part === part && found.unit === "rows/s");
    const most = Math.max(...speeds.map((found) => found.median));
    lines.push(`<text x="16" y="${y}" font-weight="600">${escape(part)}</text>`);
    for (const { name, median } of speeds) {
      y += size.row;
      lines.push(drawBar(name, median, most, y));
    }
    y += size.row * 1.6;
  }
  const height = Math.ceil(y);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${height}" width="${size.width}" height="${height}" font-family="system-ui, sans-serif" font-size="14" role="img" aria-label="Import speed in rows per second">`,
    `<rect width="100%" height="100%" rx="8" fill="#ffffff"/>`,
    `<g fill="#1f2328"><text x="16" y="30" font-size="16" font-weight="600">Rows per second (medians of interleaved runs)</text>`,
    ...lines,
    "</g>",
    "</svg>",
    "",
  ].join("\n");
}

function drawBar(name: string, value: number, most: number, y: number): string {
  const from = 250;
  const width = Math.max(2, ((size.width - from - 110) * value) / most);
  const color = /^sqlite|other build/.test(name) ? "#afb8c1" : "#1a7f37";
  return [
    `<text x="${from - 12}" y="${y}" text-anchor="end">${escape(name)}</text>`,
    `<rect x="${from}" y="${y - 15}" width="${width.toFixed(1)}" height="20" rx="3" fill="${color}"/>`,
    `<text x="${(from + width + 8).toFixed(1)}" y="${y}">${round(value)}</text>`,
  ].join("");
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
