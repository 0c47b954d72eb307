import { StringDecoder } from "node:string_decoder";
import type { Writable } from "node:stream";
import { resolveColors } from "../../../terminal/colors.ts";
import { escapeForTerminal, indentLabels } from "../../../terminal/safe-text.ts";
import type { Io } from "../io.ts";
import { isPlain, type StreamName } from "./screen.ts";
import { proxyWrites } from "./stream-proxy.ts";

const targets = new WeakMap<Writable, Writable>();

/**
 * An `Io` whose streams escape everything that a terminal would interpret, whatever the command and the format. Output
 * to a file or pipe is not changed; only the program's own colors are resolved if they are on.
 */
export function guardIo(io: Io): Io {
  const guarded = new Map<StreamName, Writable>();
  const find = (name: StreamName) => {
    const known = guarded.get(name) ?? guard(io, name);
    guarded.set(name, known);
    return known;
  };
  // Inherits the getters of `io`, which open streams on first use.
  return Object.create(io, { stdout: { get: () => find("stdout") }, stderr: { get: () => find("stderr") } }) as Io;
}

/** The stream behind a guarded one, for prompts and progress lines, which move the cursor and sanitize their own texts. */
export function findUnguarded(stream: Writable): Writable {
  return targets.get(stream) ?? stream;
}

function guard(io: Io, name: StreamName): Writable {
  const target = io[name];
  const isTerminal = name === "stdout" ? io.isStdoutTerminal : io.isStderrTerminal;
  if (!isTerminal && isPlain(io, name)) return target;
  const decoder = new StringDecoder("utf8");
  // Errors are only printed to standard error, so no line of standard output may look like one.
  const indent = isTerminal && name === "stdout" ? createIndenter() : (text: string) => text;
  const write = (chunk: string | Uint8Array, done: ((error?: Error | null) => void) | undefined) => {
    if (isTerminal) {
      const text = typeof chunk === "string" ? chunk : decoder.write(Buffer.from(chunk));
      return target.write(escapeForTerminal(indent(text)), done);
    }
    return target.write(typeof chunk === "string" ? resolveColors(chunk) : chunk, done);
  };
  const stream = proxyWrites(target, { write });
  targets.set(stream, target);
  return stream;
}

/** Creates a function that calls `indentLabels` for a text that is written in parts. */
function createIndenter(): (text: string) => string {
  let isLineStart = true;
  return (text) => {
    // A part that continues a line does not start one.
    const indented = isLineStart ? indentLabels(text) : indentLabels(`|${text}`).slice(1);
    if (text !== "") isLineStart = text.endsWith("\n");
    return indented;
  };
}
