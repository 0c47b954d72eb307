import { UserError, usageError } from "../../config/user-error.ts";
import type { Terminal } from "../../terminal/prompt.ts";
import type { Globals } from "./global-flags.ts";
import type { Io } from "./io.ts";
import type { Messages } from "./output/messages.ts";
import { findUnguarded } from "./output/guarded-io.ts";
import { isAutomated } from "./output/screen.ts";
import { listenForStop } from "./stop-signals.ts";
import type { Readable } from "node:stream";

/** Whether a person is at the terminal and prompts are allowed. */
export function canPrompt({ io, globals }: { readonly io: Io; readonly globals: Globals }): boolean {
  return io.isStdinTerminal && io.isStderrTerminal && globals.input && !isAutomated(io);
}

export function promptInterrupted(): UserError {
  return new UserError("interrupted", "interrupted at a prompt; nothing was changed");
}

/**
 * Prompts the person at the terminal. A signal cancels the prompt, as Ctrl-C does.
 * @throws UserError `interrupted`
 */
export async function prompt<T>(
  { io }: { readonly io: Io },
  show: (terminal: Terminal) => Promise<T | undefined>,
): Promise<T> {
  const signals = listenForStop(io, {});
  try {
    const answer = await show({ input: io.stdin, output: findUnguarded(io.stderr), signal: signals.stop });
    if (answer === undefined || signals.stop.aborted) throw promptInterrupted();
    return answer;
  } finally {
    signals.release();
  }
}

/**
 * Prompts for a password without showing it.
 * @param what names the password in messages: "the password of ann"
 * @throws UserError `usage` if nobody can be prompted or the password is empty; `interrupted`
 */
export async function promptPassword(
  context: { readonly io: Io; readonly globals: Globals },
  what: string,
  { question, hint }: { readonly question: string; readonly hint: string },
): Promise<string> {
  if (!canPrompt(context)) throw usageError(`cannot prompt for ${what}`, hint);
  const { promptSecret } = await import("../../terminal/prompt.ts");
  const answer = await prompt(context, (terminal) => promptSecret(question, terminal));
  if (answer === "") throw usageError(`${what} is empty`, hint);
  return answer;
}

/**
 * Prompts until the answer can be parsed. An empty answer selects the default, which is shown in parentheses.
 * @throws UserError `interrupted`
 */
export async function promptValue<T>(
  context: { readonly io: Io; readonly messages: Messages },
  { question, usual = "" }: { readonly question: string; readonly usual?: string | undefined },
  parse: (answer: string) => T,
): Promise<T> {
  const { promptText } = await import("../../terminal/prompt.ts");
  const label = usual === "" ? question : `${question} (${usual})`;
  for (;;) {
    const answer = (await prompt(context, (terminal) => promptText(label, terminal))).trim();
    try {
      return parse(answer === "" ? usual : answer);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      const { message, hint } = error;
      context.messages.warn(hint === undefined ? message : `${message}. ${hint}`);
    }
  }
}

const maxSecretLength = 4_096;

/**
 * Reads a secret from standard input, without the line ending.
 * @throws UserError `usage`
 */
export async function readSecretLine(stdin: Readable, what: string): Promise<string> {
  let text = "";
  for await (const chunk of stdin) {
    text += String(chunk);
    if (text.length > maxSecretLength) break;
  }
  const secret = text.replace(/\r?\n$/, "");
  if (secret === "")
    throw usageError(
      `standard input contains no ${what}`,
      `Redirect a file with the ${what} to it, or pipe the output of a password manager.`,
    );
  if (secret.length <= maxSecretLength && !/\p{Cc}/u.test(secret)) return secret;
  throw usageError(
    `the ${what} on standard input must be one line of at most ${maxSecretLength} characters`,
    `Pass only the ${what}.`,
  );
}
