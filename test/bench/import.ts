import { mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { say } from "./import/bench.ts";
import { drawChart } from "./import/chart.ts";
import { type Figure, formatTable, storeFigures } from "./support/figures.ts";
import { parts } from "./import/parts/index.ts";

/**
 * Measures imports of generated files, each against other programs in interleaved runs. `--only` selects parts, with
 * commas between; `--rows` and `--rounds` set the size; `--json` prints JSON instead of a table; `--svg` draws a chart of
 * all figures in the folder, including those of earlier runs; `--against` names the folder of another build, which
 * runs in turn with this one: in all parts but `archives`, `formats`, `paced`, `verify`, and `growth`.
 */
const { values: flags } = parseArgs({
  options: {
    only: { type: "string", default: Object.keys(parts).join(",") },
    rows: { type: "string" },
    rounds: { type: "string", default: "3" },
    folder: { type: "string", default: join(tmpdir(), "starpost-bench") },
    json: { type: "boolean", default: false },
    svg: { type: "string" },
    against: { type: "string" },
  },
});
mkdirSync(flags.folder, { recursive: true });
const rows = flags.rows === undefined ? undefined : Number(flags.rows);
const bench = { folder: flags.folder, rows, rounds: Number(flags.rounds), otherBuild: flags.against };

say(`node ${process.version}`);
const figures: Figure[] = [];
for (const name of flags.only.split(",").filter((wanted) => wanted !== "")) {
  const part = parts[name];
  if (!part) throw new Error(`unknown part "${name}": must be one of ${Object.keys(parts).join(", ")}`);
  say(name);
  for (const found of await part(bench)) figures.push({ part: name, ...found });
}
const all = storeFigures(join(flags.folder, "figures.json"), figures);
process.stdout.write(`${flags.json ? JSON.stringify(figures, undefined, 2) : formatTable(figures)}\n`);
if (flags.svg !== undefined) writeFileSync(flags.svg, drawChart(all));
