import type { Outcome } from "./attack.ts";
import type { Measured } from "./attacked-server.ts";

interface Row extends Outcome {
  readonly dialect: string;
  readonly name: string;
  /** Undefined if the server ended. */
  readonly measured: Measured | undefined;
}

const rows = new Map<string, Row>();

/** Records the result of an attack; a repeated attack replaces its earlier result. */
export function reportRow(row: Row): void {
  rows.set(`${row.dialect} ${row.name}`, row);
  const { dialect, name, result, measured } = row;
  const figures = measured ? `${measured.delayMs} ms, ${measured.memoryMb} MB` : "server ended";
  process.stdout.write(`${dialect}: ${name}: ${result} (${figures})\n`);
}

/** Prints all results as a Markdown table. */
export function printReport(): void {
  const cells = [...rows.values()].map(({ dialect, name, held, result, measured }) => [
    name,
    dialect === "sqlite" ? "SQLite" : "PostgreSQL",
    held ? "yes" : "no",
    result,
    measured ? String(measured.delayMs) : "server ended",
    measured ? String(measured.memoryMb) : "",
  ]);
  const table = [["Attack", "Database", "Held", "Result", "Longest delay, ms", "Peak memory, MB"], ...cells];
  const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? [];
  const format = (row: readonly string[]) => `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`;
  const rule = `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`;
  const [head = [], ...body] = table;
  process.stdout.write(`\n${[format(head), rule, ...body.map(format)].join("\n")}\n`);
}
