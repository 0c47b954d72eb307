import { isForScripts } from "../global-flags.ts";
import type { Globals } from "../global-flags.ts";
import type { Io } from "../io.ts";
import { readVariable } from "../../../config/environment.ts";
import { indentLabels, sanitizeLine } from "../../../terminal/safe-text.ts";
import { wrapLine } from "../../../terminal/wrap-text.ts";
import { createPaint, type Paint } from "../../../terminal/colors.ts";
import {
  canAnimate,
  createLineProgress,
  createSpinner,
  noProgress,
  type Progress,
} from "../../../terminal/progress.ts";
import { findUnguarded } from "./guarded-io.ts";
import { keepTarget } from "./suggested-commands.ts";
import { isAutomated, readMessageScreen } from "./screen.ts";

/** A message on one line, or a list of lines. A line break in a line comes from data, and is printed as a space. */
export type Message = string | readonly string[];

/** Messages of a command on standard error. */
export interface Messages {
  /** Shown even if the output is for a script. */
  warn(message: Message): void;
  /** Shown only to a person at a terminal, or in table and CSV formats. */
  info(message: Message): void;
  openProgress(): Promise<Progress>;
  /** Colors for standard error. */
  paint(): Promise<Paint>;
  /** Writes the warnings that were deferred. */
  flush(): void;
}

/**
 * With a format for scripts and standard error redirected, standard error must hold at most one JSON error document.
 * Warnings are therefore deferred until the command has succeeded, and information is dropped.
 */
export function createMessages(io: Io, globals: Globals): Messages {
  // Checked for each message, because opening standard error slows startup.
  const isDeferred = () => isForScripts(globals.format) && !io.isStderrTerminal;
  const deferred: Message[] = [];
  const write = (message: Message) => {
    if (!globals.quiet) io.stderr.write(`${formatMessage(io, message, globals)}\n`);
  };
  return {
    warn: (message) => {
      if (isDeferred()) deferred.push(message);
      else write(message);
    },
    info: (message) => {
      if (!isDeferred()) write(message);
    },
    openProgress: async () => {
      if (globals.quiet || isDeferred()) return noProgress;
      const { clock, redactor } = io;
      const stderr = findUnguarded(io.stderr);
      const isAnimated = canAnimate(stderr) && !isAutomated(io) && readVariable(io.env, "TERM") !== "dumb";
      const { isColored } = readMessageScreen(io);
      return isAnimated ? createSpinner(stderr, { clock, isColored, redactor }) : createLineProgress(stderr, clock);
    },
    paint: () => createPaint(readMessageScreen(io).isColored),
    flush: () => {
      for (const message of deferred.splice(0)) write(message);
    },
  };
}

/** Hides personal data and removes control characters; on a terminal, also wraps lines between words. */
function formatMessage(io: Io, message: Message, globals: Globals): string {
  const suggested = [message].flat().map((line) => keepTarget(line, globals));
  const lines = suggested.map((line) => indentLabels(sanitizeLine(io.redactor?.text(line) ?? line)));
  if (!io.isStderrTerminal) return lines.join("\n");
  const { width } = readMessageScreen(io);
  return lines.flatMap((line) => wrapLine(line, width)).join("\n");
}
