import { readFileSync } from "node:fs";
import type { Writable } from "node:stream";
import type { Io } from "./cli/program/io.ts";

const used = new Set<Writable>();

type Status = Awaited<ReturnType<typeof import("./cli/program/program.ts").runProgram>>;

/** The first error of writing output. */
let writeError: NodeJS.ErrnoException | undefined;

/** The process as commands see it. Streams are opened on first use, because opening them slows startup. */
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
    // Some terminals report a width of 0.
    return process.stdout.columns || undefined;
  },
  get rows() {
    return process.stdout.rows || undefined;
  },
  clock: Date.now,
  random: (bytes) => process.getBuiltinModule("node:crypto").randomBytes(bytes),
  signals: process,
  exit: (status) => process.exit(status),
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
 * Ignores closed pipes (`| head`). Remembers other errors, such as a full disk, but lets the command finish, so that
 * its work is not left incomplete.
 */
function use(stream: Writable): Writable {
  if (used.has(stream)) return stream;
  used.add(stream);
  return stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") writeError ??= error;
  });
}

function drain(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    stream.write("", () => resolve());
  });
}

async function main(): Promise<void> {
  // Answered before loading anything else.
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
    // A call that took too long may still be in flight.
    return end(0);
  }
  const { runProgram } = await import("./cli/program/program.ts");
  await end(await runProgram(io));
}

/** Exits once all output is written. Exits explicitly, because an open standard input would keep the process running. */
async function end(status: Status): Promise<never> {
  await Promise.all([...used].map(drain));
  if (!writeError) process.exit(status);
  const { reportLostOutput } = await import("./cli/program/errors/error-report.ts");
  const finalStatus = await reportLostOutput(io, status, writeError.message);
  await drain(io.stderr);
  process.exit(finalStatus);
}

void main();
