import type { Readable, Writable } from "node:stream";
import type { Environment } from "../../config/environment.ts";
import type { App } from "../../app/ports.ts";

export type SignalName = "SIGINT" | "SIGTERM";

/** Where signals arrive; the process, or an emitter in a test. */
export interface Signals {
  on(name: SignalName, listener: () => void): unknown;
  off(name: SignalName, listener: () => void): unknown;
}

/** All of the world that a command may touch. */
export interface Io {
  /** What follows the program's name. */
  readonly argv: readonly string[];
  readonly env: Environment;
  readonly cwd: string;
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly isStdinTerminal: boolean;
  readonly isStdoutTerminal: boolean;
  readonly isStderrTerminal: boolean;
  /** Characters in a line of the terminal, where there is one. */
  readonly columns: number | undefined;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  readonly random: (bytes: number) => Buffer;
  readonly signals: Signals;
  readonly version: string;
  /** Node's version, and the one that the package wants. */
  readonly node: { readonly version: string; readonly wanted: string };
  /** Loads the rooms that answer calls; they cost more than a start may. */
  readonly loadApp: () => Promise<App>;
}
