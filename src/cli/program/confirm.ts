import { UserError } from "../../config/user-error.ts";
import type { Terminal } from "../../terminal/prompt.ts";
import type { Context } from "./context.ts";
import { listenForStop } from "./stop-signals.ts";
import { describeLive } from "./live-format.ts";
import { isAutomatic } from "./messages.ts";

/** Whether a person is there to answer, and may be asked. */
export function canAsk({ io, globals }: Pick<Context, "io" | "globals">): boolean {
  return io.isStdinTerminal && io.isStderrTerminal && globals.input && !isAutomatic(io);
}

/** That a question was broken off. */
export function brokenOff(): UserError {
  return new UserError("interrupted", "interrupted at a question: nothing was done");
}

/**
 * Puts a question to the person at the terminal; a signal breaks it off as Ctrl-C does.
 * @throws UserError `interrupted`
 */
export async function ask<T>(
  { io }: Pick<Context, "io">,
  put: (terminal: Terminal) => Promise<T | undefined>,
): Promise<T> {
  const signals = listenForStop(io, () => {});
  try {
    const answer = await put({ input: io.stdin, output: io.stderr, signal: signals.stop });
    if (answer === undefined || signals.stop.aborted) throw brokenOff();
    return answer;
  } finally {
    signals.release();
  }
}

/**
 * Asks before something is done that cannot simply be done back. `--yes` answers.
 * Assumed: no is an answer and no wrong use, but a script that waits for what was to be done must not go on.
 * @throws UserError `usage` where nobody can be asked, `failed` where the answer is no, `interrupted`
 */
export async function confirm(context: Context, question: string): Promise<void> {
  if (context.globals.yes) return;
  requirePerson(context, question);
  const { promptYesNo } = await import("../../terminal/prompt.ts");
  const isAgreed = await ask(context, (terminal) => promptYesNo(question, terminal));
  if (!isAgreed) throw new UserError("failed", "nothing was done: the answer was no");
}

/**
 * Asks before something on the service is destroyed, as `confirm` does; of a live profile its name comes first.
 * @throws UserError as `confirm`
 */
export async function confirmDestruction(context: Context, question: string): Promise<void> {
  await confirm(context, await nameLive(context, question));
}

/**
 * Asks for a name to be typed before everything under it is destroyed. `--yes` answers.
 * @param question what is lost, without a question mark: "All codes of map_review are deleted."
 * @throws UserError as `confirm`; `failed` as well where another name is typed
 */
export async function confirmByName(context: Context, question: string, name: string): Promise<void> {
  if (context.globals.yes) return;
  const whole = await nameLive(context, question);
  requirePerson(context, whole);
  const { promptText } = await import("../../terminal/prompt.ts");
  const put = `${whole} Type ${name} to go on:`;
  const typed = await ask(context, (terminal) => promptText(put, terminal));
  if (typed.trim() === name) return;
  const answer = typed.trim() === "" ? "no name was typed" : `${JSON.stringify(typed.trim())} is not ${name}`;
  throw new UserError("failed", `nothing was done: ${answer}`);
}

function requirePerson(context: Context, question: string): void {
  if (canAsk(context)) return;
  throw new UserError(
    "usage",
    `${question} There is nobody to ask.`,
    "Give --yes to go on without a question.",
  );
}

/** A live profile's name before what is asked of it. */
async function nameLive(context: Context, question: string): Promise<string> {
  const profile = await context.profile();
  return profile.isLive ? `${describeLive(profile)}: ${question}` : question;
}
