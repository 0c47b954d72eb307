import { isForScripts } from "../global-flags.ts";
import type { Globals } from "../global-flags.ts";
import type { Io } from "../io.ts";
import type { OnTrace } from "../../../service/trace.ts";
import { attach, type Attachment, KeptTraces, formatTrace, redactTrace } from "./trace-format.ts";
import { readVariable } from "../../../config/environment.ts";
import { indentLabels, sanitizeLine } from "../../../terminal/safe-text.ts";
import { wrapLine } from "../../../terminal/text-layout.ts";
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

/** A result that is an error, although the command has printed its data. */
export interface ResultError {
  readonly kind: string;
  readonly message: string;
}

/** Messages of a command on standard error. */
export interface Messages {
  /** Shown even if the output is for a script. */
  warn(message: Message): void;
  /** Shown only to a person at a terminal, or in table and CSV formats. */
  info(message: Message): void;
  /** Shown even if the output is for a script; then in one JSON document. */
  readonly trace: OnTrace;
  openProgress(): Promise<Progress>;
  /** Colors for standard error. */
  paint(): Promise<Paint>;
  /** Writes the notices and traces that were deferred; as one document with the error, if the result is one. */
  flush(error?: ResultError): void;
  /** Adds what was deferred to the error that ends the command. */
  fail(error: unknown): void;
}

/**
 * With a format for scripts and standard error redirected, standard error contains only JSON: after a failure, one document with
 * the error, the warnings as `notices`, and the traces; otherwise, one line per notice, and one with the traces. They are
 * therefore deferred until the command has ended, and information is dropped.
 */
export function createMessages(io: Io, globals: Globals): Messages {
  // Checked for each message, because opening standard error slows startup.
  const isDeferred = () => isForScripts(globals.format) && !io.isStderrTerminal;
  const deferred: Message[] = [];
  const traces = new KeptTraces();
  const print = (document: object) => io.stderr.write(`${JSON.stringify(document)}\n`);
  /** Removes and returns what was deferred. */
  const takeDeferred = (): Attachment => {
    const notices = deferred.splice(0).map((message) => ({ message: formatMessage(io, message, globals) }));
    const trace = traces.take();
    return globals.quiet ? {} : { ...(notices.length > 0 && { notices }), ...trace };
  };
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
    trace: (event) => {
      const shown = io.redactor ? redactTrace(event, io.redactor) : event;
      if (isDeferred()) traces.add(shown);
      else write(formatTrace(shown));
    },
    openProgress: async () => {
      if (globals.quiet || isDeferred()) return noProgress;
      const { clock, redactor } = io;
      const stderr = findUnguarded(io.stderr);
      const isAnimated =
        !globals.verbose && canAnimate(stderr) && !isAutomated(io) && readVariable(io.env, "TERM") !== "dumb";
      const { isColored } = readMessageScreen(io);
      return isAnimated ? createSpinner(stderr, clock, isColored, redactor) : createLineProgress(stderr, clock);
    },
    paint: () => createPaint(readMessageScreen(io).isColored),
    flush: (error) => {
      const { notices = [], ...document } = takeDeferred();
      if (error) {
        const shown = io.redactor ? io.redactor.data(error) : error;
        print({ error: shown, ...(notices.length > 0 && { notices }), ...document });
        return;
      }
      for (const notice of notices) print({ notice });
      if ("trace" in document) print(document);
    },
    fail: (error) => attach(error, takeDeferred()),
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

/**
 * Shows what a person should know about a server or a worker. Where nobody reads along, standard error contains only JSON
 * lines.
 */
export function createAnnouncer({
  io,
  messages,
  globals,
}: {
  readonly io: Io;
  readonly messages: Messages;
  readonly globals: Globals;
}): (message: string) => void {
  if (io.isStderrTerminal) return (message) => messages.warn(message);
  return (message) => {
    if (globals.quiet) return;
    const time = new Date(io.clock()).toISOString();
    io.stderr.write(`${JSON.stringify({ level: "info", time, msg: message })}\n`);
  };
}
