import type { Readable, Writable } from "node:stream";
import type { Environment } from "../../config/environment.ts";
import type { App } from "../../app/ports.ts";
import type { Redactor } from "../../terminal/redactor.ts";

export type SignalName = "SIGINT" | "SIGTERM" | "SIGHUP";

/** Receives signals: the process, or an emitter in a test. */
export interface Signals {
  on(name: SignalName, listener: () => void): unknown;
  off(name: SignalName, listener: () => void): unknown;
}

/** Everything outside the program that a command may access. */
export interface Io {
  /** Command-line arguments, without the program name. */
  readonly argv: readonly string[];
  readonly env: Environment;
  readonly cwd: string;
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly isStdinTerminal: boolean;
  readonly isStdoutTerminal: boolean;
  readonly isStderrTerminal: boolean;
  /** Hides personal data in output; set if --redact is given. */
  readonly redactor?: Redactor | undefined;
  /** Width of the terminal in characters, if there is one. */
  readonly columns: number | undefined;
  /** Height of the terminal in lines, if there is one. */
  readonly rows?: number | undefined;
  /** Current time in milliseconds since 1970. */
  readonly clock: () => number;
  readonly random: (bytes: number) => Buffer;
  readonly signals: Signals;
  /** Ends the process immediately. */
  readonly exit: (status: number) => void;
  readonly version: string;
  /** Version of Node, and the version range that the package requires. */
  readonly node: { readonly version: string; readonly wanted: string };
  /** Loads the application, which is too expensive to load at startup. */
  readonly loadApp: () => Promise<App>;
}
