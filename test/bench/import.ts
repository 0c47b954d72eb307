import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { SqliteFile } from "../../src/storage/sqlite/sqlite-file.ts";
import { makeGzip, makeZip } from "../support/archives.ts";
import { measure, median, type Measured } from "./measure.ts";
import { columns, writeOrdersFile } from "./orders-file.ts";

/**
 * Measures imports of generated files, each against another program in one interleaved run.
 * `--rows` and `--rounds` set the size; `--only speed|memory|archives|remote|verify|start-up` runs one part; `--large` adds the
 * 10,000,000-row run.
 */
const { values: flags } = parseArgs({
  options: {
    rows: { type: "string", default: "1000000" },
    rounds: { type: "string", default: "3" },
    only: { type: "string" },
    large: { type: "boolean", default: false },
    folder: { type: "string", default: join(tmpdir(), "starpost-bench") },
  },
});
const rows = Number(flags.rows);
const rounds = Number(flags.rounds);
const program = resolve("bin/starpost.js");
mkdirSync(flags.folder, { recursive: true });

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function fileOf(count: number): string {
  const path = join(flags.folder, `orders-${count}.csv`);
  writeOrdersFile(path, count);
  return path;
}

async function withFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(flags.folder, "run-"));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Summary {
  readonly rows: { readonly read: number; readonly accepted: number; readonly rejected: number };
  readonly calls: { readonly sent: number; readonly throttled: number };
}

async function importFile(path: string, count: number, env: Record<string, string> = {}, more: string[] = []) {
  return withFolder(async (folder) => {
    const args = [program, "orders", "import", path, "--json", ...more];
    const run = await measure(process.execPath, args, {
      env: { STARPOST_HOME: folder, ...env },
      statuses: [0, 3],
    });
    const summary = JSON.parse(run.stdout) as Summary;
    if (summary.rows.read !== count) throw new Error(`${summary.rows.read} rows were read of ${count}`);
    return { ...run, summary };
  });
}

async function importWithSqlite(path: string): Promise<Measured> {
  return withFolder((folder) => {
    const table = columns.map((name) => `${name} text`).join(", ");
    const input = `create table orders(${table}, unique(order_id, product_id));\n.mode csv\n.import --skip 1 ${path} orders\n`;
    return measure("sqlite3", [join(folder, "plain.db")], { input });
  });
}

async function importWithSqliteUtils(path: string): Promise<Measured> {
  return withFolder((folder) => measure("sqlite-utils", ["insert", join(folder, "u.db"), "orders", path, "--csv"]));
}

function perSecond(run: Measured): number {
  return rows / run.seconds;
}

function show(name: string, figures: readonly number[], unit: string): void {
  const [low, middle, high] = [Math.min(...figures), median(figures), Math.max(...figures)];
  const digits = middle < 10 ? 2 : 0;
  say(`  ${name}: median ${middle.toFixed(digits)} ${unit} (${low.toFixed(digits)} to ${high.toFixed(digits)})`);
}

async function speed(): Promise<void> {
  const path = fileOf(rows);
  const ours: number[] = [];
  const [overSqlite, overUtils]: [number[], number[]] = [[], []];
  say(`speed: ${rows} rows, ${rounds} rounds, interleaved`);
  for (let round = 0; round < rounds; round++) {
    const shell = await importWithSqlite(path);
    const run = await importFile(path, rows);
    const utils = await importWithSqliteUtils(path);
    ours.push(perSecond(run));
    overSqlite.push(shell.seconds / run.seconds);
    overUtils.push(utils.seconds / run.seconds);
    say(
      `  round ${round + 1}: starpost ${run.seconds.toFixed(1)} s, sqlite3 .import ${shell.seconds.toFixed(1)} s, ` +
        `sqlite-utils ${utils.seconds.toFixed(1)} s`,
    );
  }
  show("starpost, in-process", ours, "rows/s");
  show("of the speed of sqlite3 .import", overSqlite, "times");
  show("of the speed of sqlite-utils insert --csv", overUtils, "times");
}

async function memory(): Promise<void> {
  say("memory: peak of the whole process");
  const small = await importFile(fileOf(rows), rows);
  const large = await importFile(fileOf(rows * 4), rows * 4);
  say(`  ${rows} rows: ${small.peakMb.toFixed(0)} MB, ${rows * 4} rows: ${large.peakMb.toFixed(0)} MB`);
  say(`  ratio ${(large.peakMb / small.peakMb).toFixed(2)}`);
  if (!flags.large) return;
  const count = 10_000_000;
  const largest = await importFile(fileOf(count), count);
  say(`  ${count} rows: ${largest.peakMb.toFixed(0)} MB, ${(count / largest.seconds).toFixed(0)} rows/s`);
}

async function withServer<T>(use: (env: Record<string, string>) => Promise<T>): Promise<T> {
  return withFolder(async (folder) => {
    const env = { PATH: process.env["PATH"] ?? "", STARPOST_HOME: folder };
    const server = spawn(process.execPath, [program, "serve", "--port", "0", "--json"], {
      env,
      stdio: ["ignore", "pipe", "ignore"],
    });
    const line = await new Promise<string>((found) =>
      server.stdout.once("data", (data: Buffer) => found(data.toString())),
    );
    const credentials = execFileSync(process.execPath, [program, "auth", "credentials", "--json"], { env });
    const { app_key, secret } = JSON.parse(credentials.toString()) as { app_key: string; secret: string };
    const { url } = JSON.parse(line) as { url: string };
    try {
      return await use({ STARPOST_BASE_URL: url, STARPOST_APP_KEY: app_key, STARPOST_SECRET: secret });
    } finally {
      server.kill();
      await new Promise((ended) => server.once("close", ended));
    }
  });
}

async function remote(): Promise<void> {
  const path = fileOf(rows);
  const ratios: number[] = [];
  say(`remote, unpaced: ${rows} rows to a server on loopback, against in-process, ${rounds} rounds`);
  for (let round = 0; round < rounds; round++) {
    const near = await importFile(path, rows);
    const far = await withServer((env) => importFile(path, rows, env, ["--rate", "0"]));
    ratios.push(near.seconds / far.seconds);
    say(`  round ${round + 1}: remote ${far.seconds.toFixed(1)} s, in-process ${near.seconds.toFixed(1)} s`);
  }
  show("of the in-process speed", ratios, "times");

  say("remote, --rate 5: calls in about 60 s");
  const calls = 300;
  const paced = fileOf(9_000);
  const run = await withServer((env) => importFile(paced, 9_000, env, ["--rate", "5", "--batch-size", "20"]));
  const { sent, throttled } = run.summary.calls;
  // The first call starts immediately, so n calls take (n - 1) / 5 seconds.
  const allowed = run.seconds * 5 + 1;
  say(
    `  ${sent} calls (of ${calls}) in ${run.seconds.toFixed(1)} s: ${((100 * sent) / allowed).toFixed(1)} % of the limit; 429s: ${throttled}`,
  );
}

/** Compares verification with the import that it verifies, complete and with one row in a thousand missing. */
async function verification(): Promise<void> {
  const path = fileOf(rows);
  const [whole, holed, peaks]: [number[], number[], number[]] = [[], [], []];
  say(`verify: ${rows} rows in-process, against their import, ${rounds} rounds`);
  for (let round = 0; round < rounds; round++) {
    await withFolder(async (folder) => {
      const env = { STARPOST_HOME: folder };
      const imports = [program, "orders", "import", path, "--json"];
      const run = await measure(process.execPath, imports, { env, statuses: [3] });
      const { import_id: id } = JSON.parse(run.stdout) as { import_id: string };
      const args = [program, "imports", "verify", id, "--json"];
      const found = await measure(process.execPath, args, { env });
      const database = new SqliteFile(join(folder, "starpost.db"));
      database.execute("delete from purchases where id % 1000 = 0");
      database.close();
      const short = await measure(process.execPath, args, { env, statuses: [7] });
      whole.push(found.seconds / run.seconds);
      holed.push(short.seconds / run.seconds);
      peaks.push(found.peakMb, short.peakMb);
      say(
        `  round ${round + 1}: import ${run.seconds.toFixed(1)} s, verify ${found.seconds.toFixed(1)} s, with missing rows ${short.seconds.toFixed(1)} s`,
      );
    });
  }
  show("of the time of the import, all there", whole, "times");
  show("of the import time, with missing rows", holed, "times");
  show("peak of the whole process", peaks, "MB");
}

async function startUp(): Promise<void> {
  say("start-up: against node -e 0, 20 rounds");
  const bare: number[] = [];
  const shown: Record<string, number[]> = { "--version": [], "--help": [] };
  for (let round = 0; round < 20; round++) {
    const { seconds } = await measure(process.execPath, ["-e", "0"]);
    bare.push(seconds * 1_000);
    for (const [flag, found] of Object.entries(shown)) {
      found.push((await measure(process.execPath, [program, flag])).seconds * 1_000);
    }
  }
  show("node -e 0", bare, "ms");
  for (const [flag, found] of Object.entries(shown)) {
    show(`starpost ${flag}`, found, "ms");
    say(`  starpost ${flag}: ${(median(found) / median(bare)).toFixed(2)} times`);
  }
}

async function archives(): Promise<void> {
  const plain = fileOf(rows);
  const packed = { gzip: `${plain}.gz`, zip: `${plain}.zip` };
  if (!existsSync(packed.zip)) {
    const bytes = readFileSync(plain);
    writeFileSync(packed.gzip, makeGzip(bytes));
    writeFileSync(packed.zip, makeZip([{ name: "orders.csv", bytes, hasDescriptor: true }]));
  }
  say(`archives: ${rows} rows, against the plain file, ${rounds} rounds, interleaved`);
  const ratios: Record<string, number[]> = { gzip: [], zip: [] };
  for (let round = 0; round < rounds; round++) {
    const bare = await importFile(plain, rows);
    say(`  round ${round + 1}: plain ${bare.seconds.toFixed(1)} s, ${bare.peakMb.toFixed(0)} MB`);
    for (const [name, path] of Object.entries(packed)) {
      const run = await importFile(path, rows);
      ratios[name]?.push(bare.seconds / run.seconds);
      say(`  round ${round + 1}: ${name} ${run.seconds.toFixed(1)} s, ${run.peakMb.toFixed(0)} MB`);
    }
  }
  for (const [name, found] of Object.entries(ratios)) show(`${name}, of the plain file's speed`, found, "times");
}

const parts: Readonly<Record<string, () => Promise<void>>> = {
  speed,
  memory,
  archives,
  remote,
  verify: verification,
  "start-up": startUp,
};
say(`node ${process.version}`);
for (const [name, run] of Object.entries(parts)) {
  if (flags.only === undefined || flags.only === name) await run();
}
