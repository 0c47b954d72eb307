import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { median } from "./measure.ts";

/** `npm run bench:start -- [--rounds n]`: how long starts take, each of the runs in turn, against a bare Node's. */
const { values } = parseArgs({ options: { rounds: { type: "string", default: "31" } } });
const program = resolve("bin/starpost.js");
const home = mkdtempSync(join(tmpdir(), "starpost-bench-"));
const runs = [
  ["node -e 0", "-e", "0"],
  ["starpost --version", program, "--version"],
  ["starpost --help", program, "--help"],
  ["starpost products list --json", program, "products", "list", "--json"],
] as const;

function run(args: readonly string[]): number {
  const startedMs = performance.now();
  const env = { PATH: process.env["PATH"], STARPOST_HOME: home };
  const { status, stderr } = spawnSync(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}: ${stderr.toString()}`);
  return performance.now() - startedMs;
}

try {
  const file = join(home, "products.csv");
  const rows = Array.from({ length: 20 }, (_, at) => `p${at},Tea ${at},https://shop.example/p${at}`);
  writeFileSync(file, `product_id,name,url\n${rows.join("\n")}\n`);
  run([program, "products", "import", file, "--quiet"]);
  const took = runs.map(() => [] as number[]);
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const [at, [, ...args]] of runs.entries()) took[at]?.push(run(args));
  }
  const bare = median(took[0] ?? []);
  process.stdout.write(`Node ${process.versions.node}, medians of ${values.rounds} interleaved runs\n`);
  for (const [at, [name]] of runs.entries()) {
    const ms = median(took[at] ?? []);
    process.stdout.write(`${name.padEnd(32)} ${ms.toFixed(1).padStart(7)} ms ${(ms / bare).toFixed(2)}\n`);
  }
} finally {
  rmSync(home, { recursive: true });
}
