import { isForScripts } from "./globals.ts";
import type { Globals } from "./globals.ts";
import type { Io } from "./io.ts";
import { readVariable } from "../config/environment.ts";
import {
  canAnimate,
  createLineProgress,
  createSpinner,
  noProgress,
  type Progress,
} from "../output/progress.ts";

/** What a command says to a person, on standard error. */
export interface Talk {
  /** Worth knowing even where a script asked. */
  notice(message: string): void;
  /** For a person at the screen. */
  say(message: string): void;
  /** Opens a line that says how far the command is. */
  openProgress(): Promise<Progress>;
  /** Writes the notices that were held back. */
  flush(): void;
}

/**
 * With a format for scripts, and nobody at the terminal, standard error is kept for the one error document:
 * notices wait until it is known that there is none.
 */
export function createTalk(io: Io, globals: Globals): Talk {
  const isHeldBack = isForScripts(globals.format) && !io.isStderrTerminal;
  const held: string[] = [];
  const write = (message: string) => {
    if (!globals.quiet) io.stderr.write(`${message}\n`);
  };
  return {
    notice: (message) => {
      if (isHeldBack) held.push(message);
      else write(message);
    },
    say: (message) => {
      if (!isHeldBack) write(message);
    },
    openProgress: async () => {
      if (globals.quiet || isHeldBack) return noProgress;
      const isAnimated = canAnimate(io.stderr) && !isAutomatic(io);
      return isAnimated ? await createSpinner(io.stderr) : createLineProgress(io.stderr, io.clock);
    },
    flush: () => {
      for (const message of held.splice(0)) write(message);
    },
  };
}

/** Whether no person is there to answer or to watch, as `CI` says. */
export function isAutomatic(io: Pick<Io, "env">): boolean {
  const value = readVariable(io.env, "CI");
  return value !== undefined && value !== "false" && value !== "0";
}
