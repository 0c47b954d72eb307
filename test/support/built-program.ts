import { randomBytes } from "node:crypto";
import { EventEmitter } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { PassThrough, Readable } from "node:stream";
import type { Command } from "../../src/cli/program/command.ts";
import { commands } from "../../src/cli/program/commands.ts";
import type { App } from "../../src/app/ports.ts";
import type { Io } from "../../src/cli/program/io.ts";

/** What one run did. */
export interface BuiltRun {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface BuiltSettings {
  readonly env?: Readonly<Record<string, string>>;
  /** Standard input holds nothing where it is absent. */
  readonly stdin?: string | undefined;
  readonly io?: Partial<Io> | undefined;
}

/** Loads a module of the program as it is built, for what begins threads and processes: a file, or a part of a pack. */
export async function loadBuilt<T>(name: string): Promise<T> {
  const files = readdirSync("dist");
  const found = files.find((file) => file.startsWith(`${name}-`) && file.endsWith(".js"));
  if (found !== undefined) return import(resolve("dist", found)) as Promise<T>;
  for (const file of files.filter((one) => one.endsWith(".pack"))) {
    const part = new RegExp(`"(${name}-\\w+\\.js)":\\(function`).exec(
      readFileSync(resolve("dist", file), "latin1"),
    )?.[1];
    if (part === undefined) continue;
    const pack = resolve("dist", file.replace(/-\w+\.pack$/, ".js"));
    const { default: load } = (await import(pack)) as { default: (part: string) => T };
    return load(part);
  }
  throw new Error(`dist has no ${name}: npm run build`);
}

/** Every command of the program. */
export function loadCommands(): Promise<readonly Command[]> {
  return Promise.all(Object.values(commands).map((load) => load()));
}

/** Runs the built program in this process: as a process of its own, but for what `main.ts` alone does. */
export async function runBuilt(argv: readonly string[], settings: BuiltSettings = {}): Promise<BuiltRun> {
  const { runProgram } = await loadBuilt<{ readonly runProgram: (io: Io) => Promise<number> }>("program");
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const [written, said] = [collect(stdout), collect(stderr)];
  const status = await runProgram({
    argv,
    env: settings.env ?? {},
    cwd: tmpdir(),
    stdin: Readable.from(settings.stdin === undefined ? [] : [settings.stdin]),
    stdout,
    stderr,
    isStdinTerminal: false,
    isStdoutTerminal: false,
    isStderrTerminal: false,
    columns: undefined,
    clock: Date.now,
    random: randomBytes,
    signals: new EventEmitter(),
    version: "1.2.3",
    node: { version: process.versions.node, wanted: ">=20.19" },
    loadApp: () => loadBuilt<App>("app"),
    ...settings.io,
  });
  return { status, stdout: written(), stderr: said() };
}

function collect(stream: PassThrough): () => string {
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString("utf8");
}

/** A terminal that nobody answers at: whoever asks there waits without end. */
export function openTerminal(): { readonly io: Partial<Io>; readonly asked: () => string } {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => stdin });
  const size = { isTTY: true, columns: 1_000, rows: 40 };
  const moves = { cursorTo: () => true, moveCursor: () => true, clearLine: () => true };
  const stderr = Object.assign(new PassThrough(), size, moves);
  const said = collect(stderr);
  const io = { stdin, stderr, isStdinTerminal: true, isStdoutTerminal: true, isStderrTerminal: true };
  return { io, asked: said };
}

/** Signals that come again and again, for what ends by nothing else. */
export function keepSignalling(): { readonly signals: EventEmitter; readonly end: () => void } {
  const signals = new EventEmitter();
  const timer = setInterval(() => signals.emit("SIGTERM"), 20);
  return { signals, end: () => clearInterval(timer) };
}
