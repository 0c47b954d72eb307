import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { median } from "./measure.ts";

/**
 * `npm run bench:start -- [--node <path>] [--rounds <n>]`: measures the startup of the installed package, as wall time
 * and CPU time (user and system) in multiples of `node -e 0`. Packs the working tree, installs the tarball into a temporary
 * folder, and runs the commands in turn. `--node`, or `STARPOST_BENCH_NODE`, selects the Node binary.
 */
const { values } = parseArgs({
  options: { node: { type: "string" }, rounds: { type: "string", default: "31" } },
});
const node = values.node ?? process.env["STARPOST_BENCH_NODE"] ?? process.execPath;
const folder = mkdtempSync(join(tmpdir(), "starpost-bench-"));
const hook = join(folder, "cpu.cjs");
const env = {
  PATH: process.env["PATH"],
  STARPOST_HOME: join(folder, "home"),
  NODE_COMPILE_CACHE: join(folder, "compile-cache"),
};

/** Runs a command and returns its duration in milliseconds. */
function measureWall(args: readonly string[]): number {
  const startedMs = performance.now();
  run(args);
  return performance.now() - startedMs;
}

/** Runs a command and returns the CPU time of all its threads in milliseconds, as the process itself reports it. */
function measureCpu(args: readonly string[]): number {
  const micros = JSON.parse(run(["--require", hook, ...args])) as NodeJS.CpuUsage;
  return (micros.user + micros.system) / 1_000;
}

/** Runs Node and returns what it writes to standard error. */
function run(args: readonly string[]): string {
  const { status, stderr } = spawnSync(node, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  if (status !== 0) throw new Error(`${args.join(" ")} exited with ${status}: ${stderr.toString()}`);
  return stderr.toString();
}

/** Packs and installs the package, and returns the path of its program. */
function install(): string {
  const runNpm = (...args: readonly string[]) => execFileSync("npm", args, { stdio: ["ignore", "pipe", "inherit"] });
  runNpm("pack", "--silent", "--pack-destination", folder);
  const tarball = readdirSync(folder).find((name) => name.endsWith(".tgz"));
  if (tarball === undefined) throw new Error("npm pack created no tarball");
  runNpm("install", "--silent", "--prefix", folder, join(folder, tarball));
  return join(folder, "node_modules/starpost/bin/starpost.js");
}

try {
  const program = install();
  const commands = [
    ["node -e 0", "-e", "0"],
    ["starpost --version", program, "--version"],
    ["starpost --help", program, "--help"],
    ["starpost products list --json", program, "products", "list", "--json"],
  ] as const;
  const file = join(folder, "products.csv");
  const rows = Array.from({ length: 20 }, (_, index) => `p${index},Tea ${index},https://shop.example/p${index}`);
  writeFileSync(file, `product_id,name,url\n${rows.join("\n")}\n`);
  run([program, "products", "import", file, "--quiet"]);
  // Fills the compile cache.
  for (const [, ...args] of commands) run(args);
  writeFileSync(hook, 'process.on("exit", () => require("node:fs").writeSync(2, JSON.stringify(process.cpuUsage())));');
  const results = commands.map(() => ({ wall: [] as number[], cpu: [] as number[] }));
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const [index, [, ...args]] of commands.entries()) results[index]?.wall.push(measureWall(args));
    for (const [index, [, ...args]] of commands.entries()) results[index]?.cpu.push(measureCpu(args));
  }
  const version = execFileSync(node, ["--version"]).toString().trim();
  process.stdout.write(`Node ${version}, medians of ${values.rounds} interleaved runs\n`);
  for (const kind of ["wall", "cpu"] as const) {
    const bareMs = median(results[0]?.[kind] ?? []);
    for (const [index, [name]] of commands.entries()) {
      const ms = median(results[index]?.[kind] ?? []);
      const ratio = (ms / bareMs).toFixed(2);
      process.stdout.write(`${kind.padEnd(5)} ${name.padEnd(32)} ${ms.toFixed(1).padStart(7)} ms ${ratio}\n`);
    }
  }
} finally {
  rmSync(folder, { recursive: true });
}
