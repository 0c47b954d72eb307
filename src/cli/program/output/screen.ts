import type { Writable } from "node:stream";
import { readVariable } from "../../../config/environment.ts";
import { wantsNoColor } from "../global-flags.ts";
import type { Screen } from "../../../terminal/render.ts";
import type { Io } from "../io.ts";

/** Wide enough to never truncate. */
const unlimitedWidth = 1_000;

/** Width of a terminal that does not report one. */
const defaultWidth = 80;

/** The output streams of the process. */
export type StreamName = "stdout" | "stderr";

/** The width and colors of standard output. Text is not truncated without a terminal. */
export function readScreen(io: Io): Screen {
  const width = io.columns ?? (io.isStdoutTerminal ? defaultWidth : unlimitedWidth);
  return { width, isColored: !isPlain(io, "stdout") };
}

/** The width and colors of standard error. */
export function readMessageScreen(io: Io): Screen {
  return { width: io.isStderrTerminal ? widthOf(io.stderr) : unlimitedWidth, isColored: !isPlain(io, "stderr") };
}

function widthOf(stream: Writable): number {
  const { columns } = stream as Partial<NodeJS.WriteStream>;
  return columns !== undefined && columns > 0 ? columns : defaultWidth;
}

/**
 * Whether a stream is printed without colors. The first of these decides: `--no-color`, `FORCE_COLOR` (`0` and `false`
 * disable colors, other values enable them), `NO_COLOR`, `TERM=dumb`, and whether the stream is a terminal.
 * Source: chalk and supports-color for `FORCE_COLOR`, Node.js for its precedence over `NO_COLOR`, https://no-color.org.
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
