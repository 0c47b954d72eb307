import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { Writable } from "node:stream";
import { split } from "shlex";
import { readVariable } from "../../../config/environment.ts";
import type { Globals } from "../global-flags.ts";
import type { Io } from "../io.ts";
import { findUnguarded, guardIo } from "./guarded-io.ts";
import { isAutomated } from "./screen.ts";

/** Output that is shown with a pager once it is longer than the screen. */
export interface PagedOutput {
  readonly stream: Writable;
  /** Waits until the user has quit the pager. */
  close(): Promise<void>;
}

const defaultPager = "less";

/** Opens the pager for a table on a terminal; undefined if it is not used. */
export function openPager(io: Io, { format, pager: isAllowed }: Globals): PagedOutput | undefined {
  const { rows, isStdoutTerminal, env } = io;
  if (!isStdoutTerminal || rows === undefined || !isAllowed || format !== "table" || isAutomated(io)) return undefined;
  // As in git, an empty value disables the pager.
  const command = env["STARPOST_PAGER"] ?? env["PAGER"] ?? defaultPager;
  const words = splitCommand(command);
  if (words.length === 0 || words[0] === "cat" || readVariable(env, "TERM") === "dumb") return undefined;
  const output = new PagedStream(findUnguarded(io.stdout), { io, words, rows });
  const guarded = guardIo(Object.create(io, { stdout: { value: output } }) as Io);
  return { stream: guarded.stdout, close: () => output.close() };
}

function splitCommand(command: string): readonly string[] {
  try {
    return split(command);
  } catch {
    return [];
  }
}

interface Settings {
  readonly io: Io;
  readonly words: readonly string[];
  /** The height of the terminal. */
  readonly rows: number;
}

/** Collects text until it is longer than the screen, and then starts the pager. */
class PagedStream extends Writable {
  readonly #target: Writable;
  readonly #settings: Settings;
  #collected = "";
  #lines = 0;
  #state: "collecting" | "paging" | "direct" = "collecting";
  #pager: ChildProcess | undefined;
  readonly #ignoreInterrupt = () => {};

  constructor(target: Writable, settings: Settings) {
    super({ decodeStrings: false });
    this.#target = target;
    this.#settings = settings;
  }

  override _write(chunk: string | Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    const shown = this.#settings.io.redactor?.text(String(chunk)) ?? String(chunk);
    if (this.#state === "direct") return void this.#target.write(shown, done);
    if (this.#state === "paging") return this.#send(shown, done);
    this.#collected += shown;
    this.#lines += shown.split("\n").length - 1;
    // The prompt of the shell takes the last line.
    if (this.#lines < this.#settings.rows) return done();
    void this.#start().then(
      () => {
        const text = this.#collected;
        this.#collected = "";
        if (this.#state === "direct") this.#target.write(text, done);
        else this.#send(text, done);
      },
      (error: Error) => done(error),
    );
  }

  override _final(done: (error?: Error | null) => void): void {
    if (this.#state !== "paging" && this.#collected !== "") this.#target.write(this.#collected, done);
    else done();
  }

  async close(): Promise<void> {
    if (!this.destroyed) {
      this.end();
      if (!this.writableFinished) await once(this, "finish").catch(() => {});
    }
    const { signals } = this.#settings.io;
    if (this.#pager) {
      this.#pager.stdin?.end();
      if (this.#pager.exitCode === null && this.#pager.signalCode === null) await once(this.#pager, "close");
    }
    signals.off("SIGINT", this.#ignoreInterrupt);
  }

  /** If the pager is missing, the output is printed without it. */
  async #start(): Promise<void> {
    const { io, words } = this.#settings;
    const [program = "", ...args] = words;
    // As git and gh: quit if it fits one screen, keep colors, and leave the text on the screen.
    const env = { ...io.env, LESS: io.env["LESS"] ?? "FRX", LV: io.env["LV"] ?? "-c" };
    const pager = spawn(program, args, { stdio: ["pipe", "inherit", "inherit"], env });
    // The user quits the pager, not the command, with Ctrl-C.
    io.signals.on("SIGINT", this.#ignoreInterrupt);
    try {
      await once(pager, "spawn");
      pager.on("error", () => {});
      // Closed early: the rest is not needed.
      pager.stdin.on("error", () => this.destroy());
      this.#pager = pager;
      this.#state = "paging";
    } catch {
      this.#state = "direct";
    }
  }

  #send(text: string, done: (error?: Error | null) => void): void {
    this.#pager?.stdin?.write(text, () => done());
  }
}
