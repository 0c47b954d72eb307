import type { Readable, Writable } from "node:stream";
import { sanitizeText } from "./safe-text.ts";
import { wrapIndented } from "./text-layout.ts";

export interface Terminal {
  readonly input: Readable;
  readonly output: Writable;
  /** Cancels the prompt. */
  readonly signal?: AbortSignal;
}

/** Prompts for a value without showing it. Returns undefined if the user cancels. */
export function promptSecret(message: string, terminal: Terminal): Promise<string | undefined> {
  return runPrompt(terminal, { type: "password", message: sanitizeText(message), mask: "*" });
}

/** Prompts for yes or no; the default is no. Returns undefined if the user cancels. */
export function promptYesNo(message: string, terminal: Terminal): Promise<boolean | undefined> {
  return runPrompt(terminal, { type: "confirm", message: wrapQuestion(message, terminal), default: false });
}

/** Prompts for text, which may be empty. Returns undefined if the user cancels. */
export function promptText(message: string, terminal: Terminal): Promise<string | undefined> {
  return runPrompt(terminal, { type: "input", message: sanitizeText(message) });
}

/** The columns that a prompt adds to a line of a question: `? ` before it, ` (y/N) yes` after it. */
const addedWidth = 12;

/** Wraps a question between words; inquirer would break it within words. */
function wrapQuestion(message: string, { output }: Terminal): string {
  const { columns } = output as Partial<NodeJS.WriteStream>;
  const text = sanitizeText(message);
  return columns === undefined ? text : wrapIndented(text, Math.max(columns - addedWidth, 20), 0).join("\n");
}

/** A question as inquirer takes it, without its name. */
type Question = Readonly<Record<string, unknown>> & { readonly type: "password" | "confirm" | "input" | "select" };

async function runPrompt<T>(terminal: Terminal, question: Question): Promise<T | undefined> {
  const { createPromptModule } = (await import("inquirer")).default;
  const inputEnd = watchInputEnd(terminal.input);
  const { input, output, signal } = terminal;
  const combinedSignal = signal ? AbortSignal.any([signal, inputEnd.signal]) : inputEnd.signal;
  try {
    const ask = createPromptModule({ input, output, signal: combinedSignal });
    return (await (ask([{ ...question, name: "answer" } as never]) as Promise<{ readonly answer: T }>)).answer;
  } catch (error) {
    if (["ExitPromptError", "AbortPromptError"].includes((error as Error).name)) return undefined;
    throw error;
  } finally {
    inputEnd.release();
  }
}

/**
 * Aborts its signal when the input ends: on Ctrl-D in an empty line, or when the terminal closes. Without it, a prompt
 * would never resolve, and the process would exit with status 0.
 */
function watchInputEnd(input: Readable) {
  const ended = new AbortController();
  const end = () => ended.abort();
  const onKey = (_text: unknown, key?: { readonly ctrl?: boolean; readonly name?: string }) => {
    // Ctrl-D deletes a character, unless the line is empty: then readline pauses the input.
    if (key?.ctrl && key.name === "d") setImmediate(() => input.isPaused() && end());
  };
  input.on("keypress", onKey).on("end", end).on("close", end);
  const release = () => input.off("keypress", onKey).off("end", end).off("close", end);
  return { signal: ended.signal, release };
}

export interface Choice<T> {
  readonly value: T;
  readonly name: string;
  /** The text that remains after the selection (default: `name`). */
  readonly short?: string;
}

/** Prompts for one of several choices; the default is the first. Returns undefined if the user cancels. */
export function promptChoice<T>(
  message: string,
  choices: readonly Choice<T>[],
  terminal: Terminal,
): Promise<T | undefined> {
  const shown = choices.map(({ value, name, short = name }) => {
    return { value, name: sanitizeText(name), short: sanitizeText(short) };
  });
  return runPrompt(terminal, {
    type: "select",
    message: sanitizeText(message),
    choices: shown,
    loop: false,
    pageSize: 12,
  });
}
