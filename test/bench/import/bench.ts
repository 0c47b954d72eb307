import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { measure, type Measured } from "../support/measure.ts";
import { orderColumns } from "./files.ts";
import { type Figure, figure, type Goal } from "../support/figures.ts";

/** What every part of the benchmark gets. */
export interface Bench {
  /** Holds the generated files, and the databases of the runs. */
  readonly folder: string;
  /** The number of rows if it was set by a flag. */
  readonly rows: number | undefined;
  readonly rounds: number;
  /** Another build to compare with, if a flag named its folder. */
  readonly otherBuild: string | undefined;
}

/** A part that `--only` can select: measures, and returns its figures. */
export type Part = (bench: Bench) => Promise<readonly Omit<Figure, "part">[]>;

export const program = resolve("bin/starpost.js");

export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Runs something in a temporary folder. */
export async function withFolder<T>({ folder }: Bench, use: (folder: string) => Promise<T>): Promise<T> {
  const path = mkdtempSync(join(folder, "run-"));
  try {
    return await use(path);
  } finally {
    rmSync(path, { recursive: true, force: true });
  }
}

export interface ImportRun extends Measured {
  readonly summary: {
    readonly import_id: string;
    readonly rows: { readonly read: number; readonly accepted: number; readonly rejected: number };
    readonly calls: { readonly sent: number; readonly throttled: number };
  };
}

export interface ImportOptions {
  readonly kind?: string;
  readonly env?: Record<string, string>;
  readonly flags?: readonly string[];
  readonly build?: string;
}

/** Imports all rows of a file in a separate process, into a new database unless `env` says otherwise. */
export async function importFile(
  bench: Bench,
  path: string,
  { kind = "orders", env = {}, flags = [], build = "." }: ImportOptions = {},
): Promise<ImportRun> {
  return withFolder(bench, async (folder) => {
    const args = [resolve(build, "bin/starpost.js"), kind, "import", path, "--json", ...flags];
    const run = await measure(process.execPath, args, { env: { STARPOST_HOME: folder, ...env } });
    return { ...run, summary: JSON.parse(run.stdout) as ImportRun["summary"] };
  });
}

/** The competitors of a comparison: an import by this build, and by the other build if there is one. */
export function builds(
  { otherBuild }: Bench,
  name: string,
  run: (build: string) => Promise<Measured>,
): Record<string, () => Promise<Measured>> {
  return {
    [name]: () => run("."),
    ...(otherBuild !== undefined && { [`${name}, other build`]: () => run(otherBuild) }),
  };
}

/** Loads a file into one plain table with a unique key, with the SQLite shell. */
export async function importWithSqlite(bench: Bench, path: string): Promise<Measured> {
  return withFolder(bench, (folder) => {
    const table = orderColumns.map((name) => `${name} text`).join(", ");
    const input = `create table orders(${table}, unique(order_id, product_id));\n.mode csv\n.import --skip 1 ${path} orders\n`;
    return measure("sqlite3", [join(folder, "plain.db")], { input });
  });
}

export async function importWithSqliteUtils(bench: Bench, path: string): Promise<Measured> {
  return withFolder(bench, (folder) =>
    measure("sqlite-utils", ["insert", join(folder, "u.db"), "orders", path, "--csv"]),
  );
}

/**
 * Runs competitors alternately, round by round, and compares the first with each of the others.
 * @param goals of the ratios by the name of the other, and of the speed of the first by its name
 * @returns the speed of the first relative to each other, and all speeds in rows per second
 */
export async function compare(
  bench: Bench,
  rows: number,
  competitors: Readonly<Record<string, () => Promise<Measured>>>,
  goals: Readonly<Record<string, Goal>> = {},
): Promise<Omit<Figure, "part">[]> {
  const seconds: Record<string, number[]> = {};
  for (let n = 1; n <= bench.rounds; n++) {
    for (const [name, run] of Object.entries(competitors)) {
      const found = await run();
      (seconds[name] ??= []).push(found.seconds);
      say(`  round ${n}: ${name} ${found.seconds.toFixed(2)} s, ${found.peakMb.toFixed(0)} MB`);
    }
  }
  const [first = "", ...others] = Object.keys(seconds);
  const speeds = Object.entries(seconds).map(([name, all]) =>
    figure(
      name,
      "rows/s",
      all.map((s) => rows / s),
      name === first ? goals[name] : undefined,
    ),
  );
  const ratios = others.map((name) => {
    const values = (seconds[name] ?? []).map((other, at) => other / (seconds[first]?.[at] ?? Number.NaN));
    return figure(`${first}, relative to ${name}`, "times", values, goals[name]);
  });
  return [...ratios, ...speeds];
}

/** Starts a server on loopback with a new database; `use` gets the environment with which commands reach it. */
export async function withServer<T>(
  bench: Bench,
  use: (env: Record<string, string>) => Promise<T>,
  { build = "." }: Pick<ImportOptions, "build"> = {},
): Promise<T> {
  return withFolder(bench, async (folder) => {
    const served = resolve(build, "bin/starpost.js");
    const env = { PATH: process.env["PATH"] ?? "", STARPOST_HOME: folder };
    const stdio = ["ignore", "pipe", "ignore"] as const;
    const server = spawn(process.execPath, [served, "serve", "--port", "0", "--json"], { env, stdio: [...stdio] });
    try {
      const line = await new Promise<string>((found) =>
        server.stdout?.once("data", (data: Buffer) => found(data.toString())),
      );
      const credentials = execFileSync(process.execPath, [served, "auth", "credentials", "--json"], { env });
      const { app_key, secret } = JSON.parse(credentials.toString()) as { app_key: string; secret: string };
      const { url } = JSON.parse(line) as { url: string };
      return await use({ STARPOST_BASE_URL: url, STARPOST_APP_KEY: app_key, STARPOST_SECRET: secret });
    } finally {
      server.kill();
      await new Promise((ended) => server.once("close", ended));
    }
  });
}
