import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { median } from "./measure.ts";

/**
 * `npm run bench:start -- [--rounds n]` measures the duration and CPU time of starts, in turn,
 * relative to a bare Node.js process.
 */
const { values } = parseArgs({ options: { rounds: { type: "string", default: "31" } } });
const program = resolve("bin/starpost.js");
const home = mkdtempSync(join(tmpdir(), "starpost-bench-"));
const hook = join(home, "cpu.cjs");
const runs = [
  ["node -e 0", "-e", "0"],
  ["starpost --version", program, "--version"],
  ["starpost --help", program, "--help"],
  ["starpost products list --json", program, "products", "list", "--json"],
] as const;

/** Wall-clock time in milliseconds. */
function run(args: readonly string[]): number {
  const startedMs = performance.now();
  start(args);
  return performance.now() - startedMs;
}

/** CPU time of all threads in milliseconds, measured by the process itself just before it ends. */
function runForCpu(args: readonly string[]): number {
  const micros = JSON.parse(start(["--require", hook, ...args])) as NodeJS.CpuUsage;
  return (micros.user + micros.system) / 1_000;
}

function start(args: readonly string[]): string {
  const env = { PATH: process.env["PATH"], STARPOST_HOME: home };
  const { status, stderr } = spawnSync(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}: ${stderr.toString()}`);
  return stderr.toString();
}

try {
  const file = join(home, "products.csv");
  const rows = Array.from({ length: 20 }, (_, at) => `p${at},Tea ${at},https://shop.example/p${at}`);
  writeFileSync(file, `product_id,name,url\n${rows.join("\n")}\n`);
  run([program, "products", "import", file, "--quiet"]);
  writeFileSync(
    hook,
    'process.on("exit", () => require("node:fs").writeSync(2, JSON.stringify(process.cpuUsage())));',
  );
  const took = runs.map(() => ({ wall: [] as number[], cpu: [] as number[] }));
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const [at, [, ...args]] of runs.entries()) took[at]?.wall.push(run(args));
    for (const [at, [, ...args]] of runs.entries()) took[at]?.cpu.push(runForCpu(args));
  }
  process.stdout.write(`Node ${process.versions.node}, medians of ${values.rounds} interleaved runs\n`);
  for (const kind of ["wall", "cpu"] as const) {
    const bare = median(took[0]?.[kind] ?? []);
    for (const [at, [name]] of runs.entries()) {
      const ms = median(took[at]?.[kind] ?? []);
      const times = (ms / bare).toFixed(2);
      process.stdout.write(`${kind.padEnd(5)} ${name.padEnd(32)} ${ms.toFixed(1).padStart(7)} ms ${times}\n`);
    }
  }
} finally {
  rmSync(home, { recursive: true });
}
