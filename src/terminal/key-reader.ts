import { emitKeypressEvents } from "node:readline";
import type { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";

/** A pressed key: its character, or its name, such as `return`; `end` if the terminal closed. */
export type Key = string;

interface Keypress {
  readonly name?: string;
  readonly ctrl?: boolean;
}

type Terminal = Readable & { setRawMode?: (isRaw: boolean) => unknown };

/** The same key is not accepted again within this time, in milliseconds: it was held, or pressed twice. */
const repeatMs = 250;

/**
 * Reads keys at a terminal, but only those that are pressed while the program waits for one: earlier ones were meant for
 * what the screen showed before. Ctrl-C and Ctrl-D are `interrupt` and `end`, and are never lost.
 */
export class KeyReader {
  readonly #terminal: Terminal;
  readonly #signal: AbortSignal;
  readonly #clock: () => number;
  #accept: ((key: Key) => void) | undefined;
  /** `interrupt` or `end`, once it was pressed. */
  #ended: Key | undefined;
  #last: { readonly key: Key; readonly atMs: number } | undefined;

  /** @param signal ends the waits */
  constructor(input: Readable, { signal, clock }: { readonly signal: AbortSignal; readonly clock: () => number }) {
    this.#terminal = input;
    this.#signal = signal;
    this.#clock = clock;
  }

  /** Begins to read keys, which are then not shown. */
  open(): void {
    emitKeypressEvents(this.#terminal);
    this.#terminal.setRawMode?.(true);
    this.#terminal.on("keypress", this.#onKey).on("end", this.#onEnd).on("close", this.#onEnd);
    this.#signal.addEventListener("abort", this.#onAbort, { once: true });
    this.#terminal.resume();
    if (this.#signal.aborted) this.#onAbort();
  }

  /** Leaves the terminal to others, such as a prompt. */
  close(): void {
    this.#terminal.off("keypress", this.#onKey).off("end", this.#onEnd).off("close", this.#onEnd);
    this.#signal.removeEventListener("abort", this.#onAbort);
    this.#terminal.setRawMode?.(false);
    this.#terminal.pause();
  }

  /** Waits for the next key, without those that the terminal has already received. */
  async next(): Promise<Key> {
    await nextTurn();
    return this.#ended ?? new Promise((resolve) => (this.#accept = resolve));
  }

  readonly #onKey = (text: string | undefined, { name, ctrl = false }: Keypress = {}): void => {
    if (ctrl && name === "c") return this.#end("interrupt");
    if (ctrl && name === "d") return this.#end("end");
    const key = text !== undefined && /^[!-~]$/.test(text) ? text : (name ?? "");
    const atMs = this.#clock();
    const isRepeated = this.#last?.key === key && atMs - this.#last.atMs < repeatMs;
    this.#last = { key, atMs };
    if (!isRepeated) this.#resolve(key);
  };

  readonly #onEnd = (): void => this.#end("end");
  readonly #onAbort = (): void => this.#end("interrupt");

  #end(key: Key): void {
    this.#ended ??= key;
    this.#resolve(this.#ended);
  }

  #resolve(key: Key): void {
    const accept = this.#accept;
    this.#accept = undefined;
    accept?.(key);
  }
}
