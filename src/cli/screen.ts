import { readVariable } from "../config/environment.ts";
import type { Screen } from "../output/render.ts";
import type { Io } from "./io.ts";

/** What standard output allows. Where it is no terminal, nothing is cut short. */
export function readScreen(io: Io): Screen {
  const width = io.columns ?? (io.isStdoutTerminal ? 80 : 1_000);
  return { width, isColoured: io.isStdoutTerminal && !isPlain(io) };
}

/** Whether colour is not wanted, on whichever stream. */
export function isPlain(io: Io): boolean {
  return readVariable(io.env, "NO_COLOR") !== undefined || readVariable(io.env, "TERM") === "dumb";
}
