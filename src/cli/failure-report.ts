import { createPaint } from "../output/paint.ts";
import { toJson } from "../output/render.ts";
import type { ExitStatus } from "./exit-status.ts";
import { describeFailure } from "./failure.ts";
import { wantsJson } from "./globals.ts";
import type { Io } from "./io.ts";
import { isPlain } from "./screen.ts";

/** Says an error in two lines for a person, what and what to do; in one document for a script. */
export async function reportFailure(io: Io, error: unknown): Promise<ExitStatus> {
  const { status, kind, message, hint, data, stack } = describeFailure(error);
  const detail = io.argv.includes("--verbose") ? stack : undefined;
  if (wantsJson(io.argv)) {
    if (data !== undefined) io.stdout.write(toJson(data));
    io.stderr.write(toJson({ error: { kind, message, hint, ...(detail && { stack: detail }) } }));
    return status;
  }
  const paint = await createPaint(io.isStderrTerminal && !isPlain(io));
  io.stderr.write(`${paint.red("error:")} ${message}\n`);
  if (hint) io.stderr.write(`${paint.bold("hint:")} ${hint}\n`);
  if (detail) io.stderr.write(`${detail}\n`);
  return status;
}
