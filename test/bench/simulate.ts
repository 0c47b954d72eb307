import { parseArgs } from "node:util";
import { formatPlans } from "./simulation/format-plan.ts";
import { readMeasured } from "./simulation/measured.ts";
import { type Assumptions, assumptions, readAssumption, simulate } from "./simulation/simulation.ts";

/**
 * Computes the servers and the storage that a number of shops needs, from `docs/operations/capacity.json`. Each assumption
 * is a flag: `npm run bench simulate -- --shops 500 --orders 40`. Without `--shops`, prints plans for three sizes.
 */
const names = Object.keys(assumptions) as (keyof Assumptions)[];

function run(): void {
  const { values } = parseArgs({
    options: Object.fromEntries(
      [...names, "help"].map((name) => [name, { type: name === "help" ? "boolean" : "string" }]),
    ),
  });
  if (values["help"]) {
    const lines = names.map(
      (name) => `  --${name.padEnd(10)} ${assumptions[name].help} (default: ${assumptions[name].default})`,
    );
    process.stdout.write(`npm run bench simulate -- [flags]\n\n${lines.join("\n")}\n`);
    return;
  }
  const given = Object.fromEntries(
    names.map((name) => [name, readAssumption(name, values[name] as string | undefined)]),
  ) as Assumptions;
  const sizes = values["shops"] === undefined ? [100, 10_000, 1_000_000] : [given.shops];
  const measured = readMeasured();
  process.stdout.write(`${formatPlans(sizes.map((shops) => simulate({ ...given, shops }, measured)))}\n`);
}

try {
  run();
} catch (error) {
  process.stderr.write(
    `error: ${(error as Error).message}\nhint: For the flags, run \`npm run bench simulate -- --help\`.\n`,
  );
  process.exitCode = 2;
}
