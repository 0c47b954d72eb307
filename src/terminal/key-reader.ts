import { emitKeypressEvents } from "node:readline";
import { PassThrough, type Readable } from "node:stream";

/** A pressed key: its character, or its name, such as `return`; `end` if the terminal closed. */
export type Key = string;

interface Keypress {
  readonly name?: string;
  readonly ctrl?: boolean;
  readonly meta?: boolean;
  readonly sequence?: string;
}

/** With it, terminals mark text that is pasted. Source: xterm "Bracketed Paste Mode" */
export const bracketedPaste = { on: "\u001B[?2004h", off: "\u001B[?2004l" } as const;

type Terminal = Readable & { setRawMode?: (isRaw: boolean) => unknown };

/** A key, and what the terminal sent for it. */
interface Press {
  readonly key: Key;
  readonly sequence: string;
}

/** A prompt that reads the keys. */
interface Borrower {
  readonly input: PassThrough;
  readonly cancel: AbortController;
}

/** Reads keys at a terminal, in order, also those that are pressed while the program is busy. Ctrl-C is read before all others. */
export class KeyReader {
  readonly #terminal: Terminal;
  readonly #signal: AbortSignal;
  readonly #waiting: Press[] = [];
  #accept: ((key: Key) => void) | undefined;
  /** `interrupt` or `end`, once it was pressed. */
  #ended: Key | undefined;
  #borrower: Borrower | undefined;
  #isPasting = false;

  /** @param signal ends the waits */
  constructor(input: Readable, signal: AbortSignal) {
    this.#terminal = input;
    this.#signal = signal;
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

  /** Leaves the terminal to others. */
  close(): void {
    this.#terminal.off("keypress", this.#onKey).off("end", this.#onEnd).off("close", this.#onEnd);
    this.#signal.removeEventListener("abort", this.#onAbort);
    this.#terminal.setRawMode?.(false);
    this.#terminal.pause();
  }

  /** Returns the next key. */
  async next(): Promise<Key> {
    const first = this.#ended === "interrupt" ? undefined : this.#waiting.shift();
    return first?.key ?? this.#ended ?? new Promise((resolve) => (this.#accept = resolve));
  }

  /** Forgets the keys that were not read. */
  discard(): void {
    this.#waiting.length = 0;
  }

  /** Passes the keys to a prompt, up to Enter, or Ctrl-C or Escape, which cancel it. */
  async lend<T>(prompt: (input: Readable, signal: AbortSignal) => Promise<T>): Promise<T> {
    const borrower = { input: new PassThrough(), cancel: new AbortController() };
    this.#borrower = borrower;
    for (const press of this.#waiting.splice(0)) this.#take(press);
    if (this.#ended !== undefined) borrower.cancel.abort();
    try {
      return await prompt(borrower.input, borrower.cancel.signal);
    } finally {
      this.#borrower = undefined;
    }
  }

  readonly #onKey = (text: string | undefined, pressed: Keypress = {}): void => {
    const { name = "", sequence = text ?? "" } = pressed;
    if (name === "paste-start" || name === "paste-end") this.#isPasting = name === "paste-start";
    else if (this.#isPasting) this.#paste(sequence);
    else if (pressed.ctrl === true) this.#control(name, sequence);
    else if (pressed.meta === true && name !== "escape") this.#escaped(text, name, sequence);
    else this.#take({ key: text !== undefined && /^[!-~]$/.test(text) ? text : name, sequence });
  };

  #control(name: string, sequence: string): void {
    if (name === "c" && !this.#borrower) this.#end("interrupt");
    else if (name === "d" && !this.#borrower) this.#end("end");
    else this.#take({ key: name === "c" ? "escape" : `modified ${name}`, sequence });
  }

  /** A key with Alt, or one that follows Escape without a pause. A prompt needs no key with Alt. */
  #escaped(text: string | undefined, name: string, sequence: string): void {
    if (!this.#borrower || sequence.length !== 2) return this.#take({ key: `modified ${name}`, sequence });
    this.#take({ key: "escape", sequence: "" });
    this.#onKey(text, { name, sequence: sequence.slice(1) });
  }

  /** What is pasted is one line of a prompt, and no decision. */
  #paste(text: string): void {
    this.#borrower?.input.write(text.replaceAll(/\p{Cc}/gu, " "));
  }

  readonly #onEnd = (): void => this.#end("end");
  readonly #onAbort = (): void => this.#end("interrupt");

  #take(press: Press): void {
    if (this.#borrower) this.#pass(press, this.#borrower);
    else if (this.#accept) this.#resolve(press.key);
    else this.#waiting.push(press);
  }

  #pass({ key, sequence }: Press, { input, cancel }: Borrower): void {
    if (key === "escape") cancel.abort();
    else input.write(sequence);
    // What follows is not for the prompt.
    if (["escape", "return", "enter"].includes(key)) this.#borrower = undefined;
  }

  #end(key: Key): void {
    this.#ended ??= key;
    this.#borrower?.cancel.abort();
    this.#resolve(this.#ended);
  }

  #resolve(key: Key): void {
    const accept = this.#accept;
    this.#accept = undefined;
    accept?.(key);
  }
}
