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
  const ask = await openPrompt(terminal);
  return unlessBrokenOff(ask([{ type: "password", name: "answer", message, mask: "*" }]));
}

/**
 * Asks a question of yes or no; no is the answer of who only presses return. Only for a terminal.
 * @returns the answer, or nothing when the person broke it off
 */
export async function askYes(message: string, terminal: Terminal): Promise<boolean | undefined> {
  const ask = await openPrompt(terminal);
  return unlessBrokenOff(ask([{ type: "confirm", name: "answer", message, default: false }]));
}

async function openPrompt({ input, output, signal }: Terminal) {
  const { createPromptModule } = (await import("inquirer")).default;
  return createPromptModule({ input, output, ...(signal && { signal }) });
}

async function unlessBrokenOff<T>(asking: Promise<{ readonly answer: T }>): Promise<T | undefined> {
  try {
    return (await asking).answer;
  } catch (error) {
    if (["ExitPromptError", "AbortPromptError"].includes((error as Error).name)) return undefined;
    throw error;
  }
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
  const ask = await openPrompt(terminal);
  const question = {
    type: "select",
    name: "answer",
    message,
    choices: [...choices],
    loop: false,
    pageSize: 12,
  } as const;
  return unlessBrokenOff(ask([question]) as Promise<{ readonly answer: T }>);
}

/**
 * Asks for a text, which may be empty. Only for a terminal.
 * @returns the answer, or nothing when the person broke it off
 */
export async function askText(message: string, terminal: Terminal): Promise<string | undefined> {
  const ask = await openPrompt(terminal);
  return unlessBrokenOff(ask([{ type: "input", name: "answer", message }]));
}
