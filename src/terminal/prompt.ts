import type { Readable, Writable } from "node:stream";

export interface Terminal {
  readonly input: Readable;
  readonly output: Writable;
  /** Takes the question away. */
  readonly signal?: AbortSignal;
}

/**
 * Asks for a value that is not shown while it is typed. Only for a terminal.
 * @returns the answer, or nothing when the person broke it off
 */
export async function askSecret(message: string, terminal: Terminal): Promise<string | undefined> {
  return put(terminal, (ask) => ask([{ type: "password", name: "answer", message, mask: "*" }]));
}

/**
 * Asks a question of yes or no; no is the answer of who only presses return. Only for a terminal.
 * @returns the answer, or nothing when the person broke it off
 */
export async function askYes(message: string, terminal: Terminal): Promise<boolean | undefined> {
  return put(terminal, (ask) => ask([{ type: "confirm", name: "answer", message, default: false }]));
}

type Asking = ReturnType<Awaited<typeof import("inquirer")>["default"]["createPromptModule"]>;

/** Puts one question, and gives its answer, or nothing when it was broken off. */
async function put<T>(
  terminal: Terminal,
  question: (ask: Asking) => Promise<{ readonly answer: T }>,
): Promise<T | undefined> {
  const { createPromptModule } = (await import("inquirer")).default;
  const end = listenForEnd(terminal.input);
  const { input, output, signal } = terminal;
  const both = signal ? AbortSignal.any([signal, end.signal]) : end.signal;
  try {
    return (await question(createPromptModule({ input, output, signal: both }))).answer;
  } catch (error) {
    if (["ExitPromptError", "AbortPromptError"].includes((error as Error).name)) return undefined;
    throw error;
  } finally {
    end.release();
  }
}

/**
 * The end of what is typed: Ctrl-D on an empty line, and a terminal that went away. A prompt then waits for ever, and
 * a process that waits for nothing else ends as if all were done.
 */
function listenForEnd(input: Readable) {
  const ended = new AbortController();
  const end = () => ended.abort();
  const onKey = (_text: unknown, key?: { readonly ctrl?: boolean; readonly name?: string }) => {
    // Within a line the key deletes a letter; only where the line is empty is reading given up.
    if (key?.ctrl && key.name === "d") setImmediate(() => input.isPaused() && end());
  };
  input.on("keypress", onKey).on("end", end).on("close", end);
  const release = () => input.off("keypress", onKey).off("end", end).off("close", end);
  return { signal: ended.signal, release };
}

/** One of several answers. */
export interface Choice<T> {
  readonly value: T;
  /** In one line. */
  readonly name: string;
  /** What stays on the screen once it is chosen; the name where absent. */
  readonly short?: string;
}

/**
 * Asks which of several it is; the first is the answer of who only presses return. Only for a terminal.
 * @returns the answer, or nothing when the person broke it off
 */
export async function askChoice<T>(
  message: string,
  choices: readonly Choice<T>[],
  terminal: Terminal,
): Promise<T | undefined> {
  const question = {
    type: "select",
    name: "answer",
    message,
    choices: [...choices],
    loop: false,
    pageSize: 12,
  } as const;
  return put(terminal, (ask) => ask([question]) as Promise<{ readonly answer: T }>);
}

/**
 * Asks for a text, which may be empty. Only for a terminal.
 * @returns the answer, or nothing when the person broke it off
 */
export async function askText(message: string, terminal: Terminal): Promise<string | undefined> {
  return put(terminal, (ask) => ask([{ type: "input", name: "answer", message }]));
}
