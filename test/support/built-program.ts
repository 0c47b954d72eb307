import { randomBytes } from "node:crypto";
import { EventEmitter } from "node:events";
import { createRequire } from "node:module";
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { PassThrough, Readable } from "node:stream";
import type { Command } from "../../src/cli/program/command.ts";
import { commands } from "../../src/cli/program/commands.ts";
import type { App } from "../../src/app/ports.ts";
import type { Io } from "../../src/cli/program/io.ts";

/** The result of one run. */
export interface BuiltRun {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface BuiltSettings {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string | undefined;
  /** Standard input; empty if omitted. */
  readonly stdin?: string | Uint8Array | undefined;
  readonly io?: Partial<Io> | undefined;
}

const require = createRequire(import.meta.url);

let built: readonly string[] | undefined;

/** Loads a module of the built program from its own file in `dist`. */
export function loadBuilt<T>(name: string): T {
  built ??= readdirSync("dist");
  const file = built.find((one) => new RegExp(`^${name}-[A-Z0-9]{8}\\.js$`).test(one));
  if (file === undefined) throw new Error(`dist contains no ${name}; run npm run build`);
  return require(resolve("dist", file)) as T;
}

/**
 * Loads the built application with the embedded engine in the test's thread, because starting a thread takes longer than
 * most commands. A rehearsal still starts one.
 */
export function loadBuiltApp(): App {
  const app = loadBuilt<App>("app");
  return {
    ...app,
    prepareBulk: async () => {},
    openConnection: async (settings) => {
      if (settings.isBulk !== true || settings.profile.mode === "remote") return app.openConnection(settings);
      const connection = await app.openConnection({ ...settings, isBulk: false });
      await connection.token();
      return connection;
    },
  };
}

/** Loads every command of the program. */
export function loadCommands(): Promise<readonly Command[]> {
  return Promise.all(Object.values(commands).map((load) => load()));
}

/** Runs the built program in this process. `main.ts` is not part of the run. */
export async function runBuilt(argv: readonly string[], settings: BuiltSettings = {}): Promise<BuiltRun> {
  const { runProgram } = loadBuilt<{ readonly runProgram: (io: Io) => Promise<number> }>("program");
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const [output, messages] = [collect(stdout), collect(stderr)];
  const status = await runProgram({
    argv,
    env: settings.env ?? {},
    cwd: settings.cwd ?? tmpdir(),
    stdin: Readable.from(settings.stdin === undefined ? [] : [Buffer.from(settings.stdin)]),
    stdout,
    stderr,
    isStdinTerminal: false,
    isStdoutTerminal: false,
    isStderrTerminal: false,
    columns: undefined,
    clock: Date.now,
    random: randomBytes,
    signals: new EventEmitter(),
    exit: () => {},
    version,
    node: { version: process.versions.node, wanted: ">=20.19" },
    loadApp: async () => loadBuiltApp(),
    ...settings.io,
  });
  return { status, stdout: output(), stderr: messages() };
}

const { version } = require("../../package.json") as { readonly version: string };

function collect(stream: PassThrough): () => string {
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString("utf8");
}

/** Opens a terminal at which no one answers prompts. */
export function openTerminal(): { readonly io: Partial<Io>; readonly asked: () => string } {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => stdin });
  const size = { isTTY: true, columns: 1_000, rows: 40 };
  const moves = { cursorTo: () => true, moveCursor: () => true, clearLine: () => true };
  const stderr = Object.assign(new PassThrough(), size, moves);
  const output = collect(stderr);
  const io = { stdin, stderr, isStdinTerminal: true, isStdoutTerminal: true, isStderrTerminal: true };
  return { io, asked: output };
}

/** Emits SIGTERM repeatedly, for commands that only end on a signal. */
export function sendSignalsRepeatedly(): { readonly signals: EventEmitter; readonly end: () => void } {
  const signals = new EventEmitter();
  const timer = setInterval(() => signals.emit("SIGTERM"), 20);
  return { signals, end: () => clearInterval(timer) };
}
