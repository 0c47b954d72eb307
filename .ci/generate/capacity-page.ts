import { readFileSync } from "node:fs";
import { formatTable } from "../../test/bench/support/figures.ts";
import { count, formatPlans } from "../../test/bench/simulation/format-plan.ts";
import { type Measured, readMeasured } from "../../test/bench/simulation/measured.ts";
import { type Assumptions, assumptions, simulate } from "../../test/bench/simulation/simulation.ts";

export const capacityPage = "docs/operations/capacity.md";

/** The sizes that the page plans for. */
const sizes = [100, 10_000, 1_000_000];

/** Returns the page with tables of the current figures between its markers. */
export function writeCapacityPage(): string {
  const measured = readMeasured();
  return readFileSync(capacityPage, "utf8").replaceAll(
    /(<!-- figures: (\w+) -->\n).*?(<!-- \/figures -->)/gs,
    (_, before: string, name: string, after: string) => `${before}\n${formatFigures(name, measured)}\n\n${after}`,
  );
}

function formatFigures(name: string, measured: Measured): string {
  const format = formats[name];
  if (!format) throw new Error(`${capacityPage} contains unknown figures: ${name}`);
  return format(measured);
}

const formats: Readonly<Record<string, (measured: Measured) => string>> = {
  machine: ({ machine, commits: { scale, costs, statements } }) =>
    `Measured on ${machine}. Commits: ${scale} (what is sustained), ${costs} (bytes), ${statements} (statements).`,
  scale: ({ scale }) => formatTable(scale),
  costs: ({ costs }) => {
    const { order, queuedEmail, sentEmail, review } = costs;
    const row = (title: string, { records, bytes, ...cpu }: Partial<typeof order> & typeof queuedEmail) =>
      line([title, count(records), count(bytes), formatMs(cpu.serverMs), formatMs(cpu.postgresMs)]);
    return [
      line(["record", "records", "bytes each", "CPU time of `serve`", "of PostgreSQL"]),
      line(["---", "---:", "---:", "---:", "---:"]),
      row("order", order),
      row("email, queued", queuedEmail),
      row("email, sent", sentEmail),
      row("review", review),
    ].join("\n");
  },
  statements: ({ statements }) =>
    [
      line(["call", "statements", "round trips"]),
      line(["---", "---:", "---:"]),
      ...Object.entries(statements).map(([call, cost]) =>
        line([call, count(cost.statements), cost.roundTrips === undefined ? "" : String(cost.roundTrips)]),
      ),
    ].join("\n"),
  assumptions: () =>
    [
      line(["flag", "meaning", "default"]),
      line(["---", "---", "---:"]),
      ...Object.entries(assumptions).map(([name, one]) => line([`\`--${name}\``, one.help, count(one.default)])),
    ].join("\n"),
  plan: (measured) => formatPlans(sizes.map((shops) => simulate({ ...defaults, shops }, measured))),
};

const defaults = Object.fromEntries(
  Object.entries(assumptions).map(([name, one]) => [name, one.default]),
) as Assumptions;

const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
const formatMs = (ms: number | undefined) => (ms === undefined ? "" : `${count(ms)} ms`);
