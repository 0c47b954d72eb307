import { readVariable } from "../config/environment.ts";
import { wantsRedaction } from "./globals.ts";
import type { Screen } from "../output/render.ts";
import type { Io } from "./io.ts";

/** Columns of a screen on which nothing is cut short. */
const endless = 1_000;

/**
 * What standard output allows. Where it is no terminal, nothing is cut short; nor where addresses are hidden, since a
 * part of one would not be known for what it is.
 */
export function readScreen(io: Io): Screen {
  const isWhole = wantsRedaction(io.argv, io.env);
  const width = isWhole ? endless : (io.columns ?? (io.isStdoutTerminal ? 80 : endless));
  return { width, isColoured: io.isStdoutTerminal && !isPlain(io) };
}

/** Whether colour is not wanted, on whichever stream. */
export function isPlain(io: Io): boolean {
  return readVariable(io.env, "NO_COLOR") !== undefined || readVariable(io.env, "TERM") === "dumb";
}
