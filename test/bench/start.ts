import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { median } from "./support/measure.ts";

/**
 * Measures the startup of the installed package, as wall time and CPU time (user and system) in multiples of `node -e 0`.
 * Packs the working tree, installs the tarball into a temporary folder, and runs the commands in turn. `--rounds` sets their
 * number; `--against` names the folder of another build, whose package runs in turn with this one; `--node`, or
 * `STARPOST_BENCH_NODE`, selects the Node binary.
 */
const { values } = parseArgs({
  options: { node: { type: "string" }, rounds: { type: "string", default: "31" }, against: { type: "string" } },
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

/** Packs and installs the package of a build, and returns the path of its program. */
function install(build: string): string {
  const prefix = mkdtempSync(join(folder, "package-"));
  const runNpm = (...args: readonly string[]) => execFileSync("npm", args, { stdio: ["ignore", "pipe", "inherit"] });
  runNpm("pack", resolve(build), "--silent", "--ignore-scripts", "--pack-destination", prefix);
  const tarball = readdirSync(prefix).find((name) => name.endsWith(".tgz"));
  if (tarball === undefined) throw new Error("npm pack created no tarball");
  runNpm("install", "--silent", "--prefix", prefix, join(prefix, tarball));
  return join(prefix, "node_modules/starpost/bin/starpost.js");
}

/** The commands to measure, each with its name. */
function commandsOf(program: string, suffix: string): readonly (readonly [name: string, ...string[]])[] {
  return [
    [`starpost --version${suffix}`, program, "--version"],
    [`starpost --help${suffix}`, program, "--help"],
    [`starpost products list --json${suffix}`, program, "products", "list", "--json"],
  ];
}

try {
  const program = install(".");
  const others = values.against === undefined ? [] : commandsOf(install(values.against), ", other build");
  const commands = [["node -e 0", "-e", "0"] as const, ...commandsOf(program, ""), ...others];
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
      process.stdout.write(`${kind.padEnd(5)} ${name.padEnd(46)} ${ms.toFixed(1).padStart(7)} ms ${ratio}\n`);
    }
  }
} finally {
  rmSync(folder, { recursive: true });
}
