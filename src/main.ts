import { readFileSync } from "node:fs";
import type { Writable } from "node:stream";
import type { Io } from "./cli/program/io.ts";

const used = new Set<Writable>();

type Status = Awaited<ReturnType<typeof import("./cli/program/program.ts").runProgram>>;

/** Why something that was to be printed was not. */
let lost: NodeJS.ErrnoException | undefined;

/** The process as commands see it. Streams are opened when they are first used: each costs a part of the start. */
const io: Io = {
  argv: process.argv.slice(2),
  env: process.env,
  get cwd() {
    return process.cwd();
  },
  get stdin() {
    return process.stdin;
  },
  get stdout() {
    return use(process.stdout);
  },
  get stderr() {
    return use(process.stderr);
  },
  get isStdinTerminal() {
    return process.stdin.isTTY;
  },
  get isStdoutTerminal() {
    return process.stdout.isTTY;
  },
  get isStderrTerminal() {
    return process.stderr.isTTY;
  },
  get columns() {
    // Some terminals say 0, which is no width.
    return process.stdout.columns || undefined;
  },
  clock: Date.now,
  random: (bytes) => process.getBuiltinModule("node:crypto").randomBytes(bytes),
  signals: process,
  get version() {
    return readPackage().version;
  },
  get node() {
    return { version: process.versions.node, wanted: readPackage().engines.node };
  },
  loadApp: () => import("./app/app.ts"),
};

function readPackage(): { readonly version: string; readonly engines: { readonly node: string } } {
  return JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as ReturnType<
    typeof readPackage
  >;
}

/**
 * A reader that has gone (`| head`) is no error; a full disk is one, but the command goes on to its own end: what it
 * began is not to be cut off because nobody can be told of it.
 */
function use(stream: Writable): Writable {
  if (used.has(stream)) return stream;
  used.add(stream);
  return stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") lost ??= error;
  });
}

function drain(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    stream.write("", () => resolve());
  });
}

async function main(): Promise<void> {
  // Answered before anything else is loaded.
  if (io.argv.length === 1 && io.argv[0] === "--version") {
    io.stdout.write(`${io.version}\n`);
    return end(0);
  }
  if (io.argv.length === 1 && io.argv[0] === "--help") {
    const { describeProgram } = await import("./cli/program/help/overview.ts");
    io.stdout.write(describeProgram());
    return end(0);
  }
  if (io.argv[0] === "__complete") {
    const { answerCompletion } = await import("./cli/program/completion/respond.ts");
    await answerCompletion(io);
    return;
  }
  const { runProgram } = await import("./cli/program/program.ts");
  await end(await runProgram(io));
}

/** Ends the process once all is written. Said in words: standard input may still be open, and would be waited for. */
async function end(status: Status): Promise<never> {
  await Promise.all([...used].map(drain));
  if (!lost) process.exit(status);
  const { reportLostOutput } = await import("./cli/program/errors/error-report.ts");
  const told = await reportLostOutput(io, status, lost.message);
  await drain(io.stderr);
  process.exit(told);
}

void main();
