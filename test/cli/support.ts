import { EventEmitter } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { randomBytes } from "node:crypto";
import { onTestFinished } from "vitest";
import type { CommandTable } from "../../src/cli/program/command.ts";
import type { Io } from "../../src/cli/program/io.ts";
import { runProgram } from "../../src/cli/program/program.ts";

/** The result of one run. */
export interface Ran {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunSettings {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly table?: CommandTable;
  readonly io?: Partial<Io>;
}

/** Creates a folder that is removed after the test. */
export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "starpost-cli-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Creates a home with an empty database. */
export async function makeHomeWithDatabase(): Promise<string> {
  const folder = makeFolder();
  const { status, stderr } = await run(["init", "--local"], { env: { STARPOST_HOME: folder } });
  if (status !== 0) throw new Error(stderr);
  return folder;
}

/** Runs the program in this process, with captured streams and without a terminal. */
export async function run(argv: readonly string[], settings: RunSettings = {}): Promise<Ran> {
  const [stdout, stderr] = [capture(), capture()];
  const io: Io = {
    argv,
    env: { STARPOST_KEYRING: "off", ...settings.env },
    cwd: tmpdir(),
    stdin: Readable.from(settings.stdin === undefined ? [] : [settings.stdin]),
    stdout: stdout.stream,
    stderr: stderr.stream,
    isStdinTerminal: false,
    isStdoutTerminal: false,
    isStderrTerminal: false,
    columns: undefined,
    clock: Date.now,
    random: randomBytes,
    signals: new EventEmitter(),
    exit: () => {},
    version: "1.2.3",
    node: { version: "22.12.0", wanted: ">=20.19" },
    loadApp: () => import("../../src/app/app.ts"),
    ...settings.io,
  };
  const status = await runProgram(io, settings.table);
  return { status, stdout: stdout.text(), stderr: stderr.text() };
}

/** Creates a stream that records its output. */
export function capture(): { readonly stream: PassThrough; readonly text: () => string } {
  const stream = new PassThrough();
  const chunks: string[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk.toString("utf8")));
  return { stream, text: () => chunks.join("") };
}

/**
 * A terminal that calls `answer` with everything it has shown whenever it has settled.
 * @param answer writes keys to `stdin`, or emits signals
 */
export function openDialog(
  answer: (shown: string, terminal: { readonly stdin: PassThrough; readonly signals: EventEmitter }) => void,
  columns = 1_000,
) {
  const signals = new EventEmitter();
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => stdin });
  const moves = { cursorTo: () => true, moveCursor: () => true, clearLine: () => true };
  const stderr = Object.assign(new PassThrough(), { isTTY: true, columns, rows: 40 }, moves);
  // A prompt ends its output stream, unless it is that of the process.
  stderr.end = () => stderr;
  let text = "";
  let settling: NodeJS.Timeout | undefined;
  stderr.on("data", (data: Buffer) => {
    text += data.toString();
    clearTimeout(settling);
    settling = setTimeout(() => answer(text, { stdin, signals }), 30);
  });
  return { io: { stdin, stderr, signals, isStdinTerminal: true, isStderrTerminal: true }, text: () => text };
}
