import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { execa, type Options } from "execa";
import { runBuilt } from "./built-program.ts";

/** The notices that a command with `--json` wrote to standard error, one per line. */
export function noticesOf({ stderr }: { readonly stderr: string }): string {
  const documents = stderr.split("\n").filter((line) => line !== "");
  return documents
    .map((line) => (JSON.parse(line) as { notice?: { message: string } }).notice?.message ?? "")
    .join("\n");
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Standard input; empty if omitted. */
  readonly input?: string | Uint8Array;
  /** Whether to remove one trailing newline from each output stream (default: true). */
  readonly stripFinalNewline?: boolean;
}

type ProcessOptions = Omit<Options, "env"> & Pick<RunOptions, "env">;

const startVariables = ["NODE_EXTRA_CA_CERTS", "NODE_OPTIONS", "TMPDIR", "DBUS_SESSION_BUS_ADDRESS"];

/** Sets the clock of a process 2 hours ahead. */
export const aheadEnv = {
  NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent("const now = Date.now; Date.now = () => now() + 7_200_000")}`,
};

/** The built program with its own empty home folder. */
export class Home {
  readonly folder = mkdtempSync(join(tmpdir(), "starpost-home-"));
  readonly env: Record<string, string>;

  constructor(env: Record<string, string> = {}) {
    this.env = {
      PATH: process.env["PATH"] ?? "",
      STARPOST_HOME: this.folder,
      STARPOST_BY: "kim",
      STARPOST_KEYRING: "off",
      // Not in TMPDIR, so that tests know what else is there.
      NODE_COMPILE_CACHE: join(tmpdir(), "node-compile-cache"),
      ...env,
    };
  }

  /** Starts the program in its own process without waiting for it to end. */
  start(args: readonly string[], options: ProcessOptions = {}) {
    return execa(process.execPath, [program, ...args], {
      cwd: resolve("."),
      reject: false,
      extendEnv: false,
      timeout: 60_000,
      ...options,
      env: { ...this.env, ...options.env },
    });
  }

  /** Runs the program in its own process, for tests about the process: its exit, signals, locks, or environment. */
  async runProcess(args: readonly string[], options: ProcessOptions = {}): Promise<Result> {
    const { exitCode, stdout, stderr } = await this.start(args, options);
    return { exitCode, stdout: String(stdout), stderr: String(stderr) };
  }

  /**
   * Runs the program in the test's own process, which takes a tenth of the time of a new one. Starts a process only if
   * the environment sets a variable that Node.js reads at its start.
   */
  async run(args: readonly string[], options: RunOptions = {}): Promise<Result> {
    const { cwd = resolve("."), input, stripFinalNewline = true } = options;
    const env = { ...this.env, ...options.env };
    if (startVariables.some((name) => name in env)) return this.runProcess(args, options);
    const result = await runBuilt(args, { env, cwd, stdin: input });
    const strip = (text: string) => (stripFinalNewline ? text.replace(/\r?\n$/, "") : text);
    return { exitCode: result.status, stdout: strip(result.stdout), stderr: strip(result.stderr) };
  }

  /** Runs with `--json` and parses standard output. */
  async json<T = Summary>(args: readonly string[], options: RunOptions = {}): Promise<Result & { readonly data: T }> {
    const result = await this.run([...args, "--json"], options);
    return { ...result, data: (result.stdout === "" ? undefined : JSON.parse(result.stdout)) as T };
  }

  /** Creates the database. */
  async init(): Promise<{ readonly app_key: string }> {
    const { exitCode, data, stderr } = await this.json<{ app_key: string }>(["init", "--local"]);
    if (exitCode !== 0) throw new Error(stderr);
    return data;
  }

  /** Waits until the newest import has stored a number of rows, and returns its summary. */
  async waitForRows(rows: number): Promise<Summary> {
    for (;;) {
      const [newest] = (await this.json<Summary[]>(["imports", "list"])).data;
      if (newest && newest.rows.accepted >= rows) return newest;
      await setTimeout(20);
    }
  }

  /** Starts `serve` on a free port. */
  async serve(args: readonly string[] = []) {
    const server = this.start(["serve", "--port", "0", "--json", ...args]);
    const line = await new Promise<string>((found, failed) => {
      server.stdout?.once("data", (data: Buffer) => found(data.toString()));
      void server.then((ended) => failed(new Error(`serve ended: ${String(ended.stderr)}`)));
    });
    const { url } = JSON.parse(line) as { url: string };
    const credentials = await this.json<{ app_key: string; secret: string }>(["auth", "credentials"]);
    const stop = async () => {
      server.kill("SIGTERM");
      return (await server).exitCode;
    };
    return { url, ...credentials.data, stop, process: server };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Writes a file into a home, and returns its path. */
export function writeInto(home: Home, name: string, content: string): string {
  const path = join(home.folder, name);
  writeFileSync(path, content);
  return path;
}

/** The homes opened by a test file, to be removed together. */
export class Homes {
  readonly #opened: Home[] = [];

  open(env?: Record<string, string>): Home {
    const home = new Home(env);
    this.#opened.push(home);
    return home;
  }

  remove(): void {
    for (const home of this.#opened) home.remove();
  }
}

const program = resolve("bin/starpost.js");

export interface Result {
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** The summary of an import. */
export interface Summary {
  readonly import_id: string;
  readonly kind: string;
  readonly files: string[];
  readonly state: string;
  readonly rows: { read: number; accepted: number; rejected: number; failed: number };
  readonly items: {
    sent: number;
    accepted: number;
    rejected: number;
    created: number | null;
    changed: number | null;
    unchanged: number | null;
    unchanged_on_repeat?: number;
  };
  readonly calls: { sent: number; retried: number; throttled: number };
  readonly started_at: string;
  readonly duration_ms: number;
  readonly rejects_file: string | null;
}

/** The environment of an ad-hoc remote profile. */
export function remoteEnv(server: { url: string; app_key: string; secret: string }): Record<string, string> {
  return { STARPOST_BASE_URL: server.url, STARPOST_APP_KEY: server.app_key, STARPOST_SECRET: server.secret };
}

/** Reads every purchase of an account over HTTP, page by page, and returns them by ID. */
export async function readPurchases(server: { url: string; app_key: string }, utoken: string) {
  const found = new Map<number, { order_id: string; product_sku: string }>();
  for (let sinceId = 0; ;) {
    const query = `utoken=${utoken}&count=200&since_id=${sinceId}`;
    const reply = await fetch(`${server.url}/apps/${server.app_key}/purchases?${query}`);
    const body = (await reply.json()) as {
      response: {
        purchases: { id: number; order_id: string; product_sku: string }[];
        total_purchases: number;
      };
    };
    const page = body.response.purchases;
    for (const purchase of page) found.set(purchase.id, purchase);
    if (page.length < 200) return { purchases: [...found.values()], total: body.response.total_purchases };
    sinceId = (page.at(-1)?.id ?? 0) + 1;
  }
}
