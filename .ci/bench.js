// Runs a benchmark of test/bench on the current sources: `npm run bench <name> -- <flags>`. Without a name, lists them.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const folder = join(root, "test/bench");
const names = readdirSync(folder).flatMap((file) => (/^[\w-]+\.ts$/.test(file) ? [file.slice(0, -3)] : []));

/** The first sentence of the comment that describes a benchmark. */
function describe(name) {
  const [, comment = ""] = /\/\*\*(.*?)\*\//s.exec(readFileSync(join(folder, `${name}.ts`), "utf8")) ?? [];
  return comment
    .replaceAll(/\s*\n \* ?/g, " ")
    .trim()
    .replace(/[.:;] .*/s, "");
}

/** Runs a program, and ends with its status if that is not 0. */
function run(command, ...args) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

const [name, ...flags] = process.argv.slice(2);
if (names.includes(name)) {
  run("npm", "run", "--silent", "build");
  run("npx", "tsc", "-p", "test/bench/tsconfig.json");
  run(process.execPath, join(root, "node_modules/.cache/starpost-bench/test/bench", `${name}.js`), ...flags);
} else {
  if (name !== undefined) process.stderr.write(`error: unknown benchmark "${name}"\n`);
  process.stdout.write(names.map((one) => `${one.padEnd(12)} ${describe(one)}\n`).join(""));
  process.exitCode = name === undefined ? 0 : 2;
}
