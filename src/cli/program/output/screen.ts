import type { Writable } from "node:stream";
import { readVariable } from "../../../config/environment.ts";
import { wantsNoColor, wantsRedaction } from "../global-flags.ts";
import type { Screen } from "../../../terminal/render.ts";
import type { Io } from "../io.ts";

/** Columns of a screen on which nothing is cut short. */
const endless = 1_000;

/** Columns of a terminal that does not tell its width. */
const usual = 80;

/** The two streams of a process that a person may look at; each is judged by itself. */
export type StreamName = "stdout" | "stderr";

/**
 * What standard output allows. Where it is no terminal, nothing is cut short; nor where addresses are hidden, since a
 * part of one would not be known for what it is.
 */
export function readScreen(io: Io): Screen {
  const isWhole = wantsRedaction(io.argv, io.env);
  const width = isWhole ? endless : (io.columns ?? (io.isStdoutTerminal ? usual : endless));
  return { width, isColored: !isPlain(io, "stdout") };
}

/** What standard error allows, in the same way. */
export function readMessageScreen(io: Io): Screen {
  const isWhole = !io.isStderrTerminal || wantsRedaction(io.argv, io.env);
  return { width: isWhole ? endless : widthOf(io.stderr), isColored: !isPlain(io, "stderr") };
}

function widthOf(stream: Writable): number {
  const { columns } = stream as Partial<NodeJS.WriteStream>;
  return columns !== undefined && columns > 0 ? columns : usual;
}

/**
 * Whether a stream has no colour. What comes first decides: `--no-color` (none), `FORCE_COLOR` (`0` and `false`: none;
 * all else: colour, also in a pipe), `NO_COLOR` (none), `TERM=dumb` (none), and else whether the stream is a terminal.
 * Source: chalk and supports-color for `FORCE_COLOR`, Node.js for its place before `NO_COLOR`, https://no-color.org.
 */
export function isPlain(
  io: Pick<Io, "argv" | "env" | "isStdoutTerminal" | "isStderrTerminal">,
  stream: StreamName,
): boolean {
  if (wantsNoColor(io.argv)) return true;
  const forced = readVariable(io.env, "FORCE_COLOR");
  if (forced !== undefined) return forced === "0" || forced === "false";
  if (readVariable(io.env, "NO_COLOR") !== undefined || readVariable(io.env, "TERM") === "dumb") return true;
  return !(stream === "stdout" ? io.isStdoutTerminal : io.isStderrTerminal);
}

/** Whether nobody is watching, according to the `CI` variable. */
export function isAutomated({ env }: Pick<Io, "env">): boolean {
  const value = readVariable(env, "CI");
  return value !== undefined && value !== "false" && value !== "0";
}
