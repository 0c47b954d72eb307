import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { median } from "./measure.ts";

/** A measured figure: the median of its rounds, and the range. */
export interface Figure {
  readonly part: string;
  readonly name: string;
  readonly unit: string;
  readonly median: number;
  readonly low: number;
  readonly high: number;
  readonly rounds: number;
  /** What the project demands; less is better for memory, more for everything else. */
  readonly required?: number;
  readonly aim?: number;
}

export type Goal = Pick<Figure, "required" | "aim">;

export function figure(name: string, unit: string, values: readonly number[], goal: Goal = {}): Omit<Figure, "part"> {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return { name, unit, median: median(values), low, high, rounds: values.length, ...goal };
}

/** The figures as a Markdown table. */
export function formatTable(figures: readonly Figure[]): string {
  const rows = figures.map(({ part, name, unit, median: middle, low, high, rounds, required, aim }) => {
    const range = rounds > 1 ? ` (${round(low)} to ${round(high)})` : "";
    return `| ${part} | ${name} | ${round(middle)}${range} ${unit} | ${round(required)} | ${round(aim)} |`;
  });
  return ["| part | figure | median | required | aim |", "|---|---|---|---|---|", ...rows].join("\n");
}

/** Adds figures to a JSON file, which keeps those of other parts. */
export function storeFigures(path: string, figures: readonly Figure[]): readonly Figure[] {
  const before = existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Figure[]) : [];
  const parts = new Set(figures.map(({ part }) => part));
  const all = [...before.filter(({ part }) => !parts.has(part)), ...figures];
  writeFileSync(path, `${JSON.stringify(all, undefined, 2)}\n`);
  return all;
}

export function round(value: number | undefined): string {
  if (value === undefined) return "";
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
