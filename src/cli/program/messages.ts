import { isForScripts } from "./global-flags.ts";
import type { Globals } from "./global-flags.ts";
import type { Io } from "./io.ts";
import { readVariable } from "../../config/environment.ts";
import { sanitizeLine } from "../../terminal/text-layout.ts";
import { wrapLine } from "../../terminal/wrap-text.ts";
import { createPaint, type Paint } from "../../terminal/colors.ts";
import {
  canAnimate,
  createLineProgress,
  createSpinner,
  noProgress,
  type Progress,
} from "../../terminal/progress.ts";
import { readTalkScreen } from "./screen.ts";

/** What a command says to a person, on standard error. */
export interface Talk {
  /** Worth knowing even where a script asked. */
  notice(message: string): void;
  /** For a person at the screen. */
  say(message: string): void;
  /** Opens a line that says how far the command is. */
  openProgress(): Promise<Progress>;
  /** The colours of standard error. */
  paint(): Promise<Paint>;
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
    if (!globals.quiet) io.stderr.write(`${foldMessage(io, message)}\n`);
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
      const { stderr, clock } = io;
      const isAnimated = canAnimate(stderr) && !isAutomatic(io) && readVariable(io.env, "TERM") !== "dumb";
      const { isColored } = readTalkScreen(io);
      return isAnimated ? createSpinner(stderr, { clock, isColored }) : createLineProgress(stderr, clock);
    },
    paint: () => createPaint(readTalkScreen(io).isColored),
    flush: () => {
      for (const message of held.splice(0)) write(message);
    },
  };
}

/** On a terminal, lines break between words. */
function foldMessage(io: Io, message: string): string {
  const lines = message.split("\n").map(sanitizeLine);
  if (!io.isStderrTerminal) return lines.join("\n");
  const { width } = readTalkScreen(io);
  return lines.flatMap((line) => wrapLine(line, width)).join("\n");
}

/** Whether no person is there to answer or to watch, as `CI` says. */
export function isAutomatic(io: Pick<Io, "env">): boolean {
  const value = readVariable(io.env, "CI");
  return value !== undefined && value !== "false" && value !== "0";
}
