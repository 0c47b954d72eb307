import { Problem } from "../config/problem.ts";
import type { Terminal } from "../output/prompt.ts";
import type { Context } from "./context.ts";
import { listenForStop } from "./stop-signals.ts";
import { isAutomatic } from "./talk.ts";

/** Whether a person is there to answer, and may be asked. */
export function canAsk({ io, globals }: Context): boolean {
  return io.isStdinTerminal && io.isStderrTerminal && globals.input && !isAutomatic(io);
}

/** That a question was broken off. */
export function brokenOff(): Problem {
  return new Problem("interrupted", "interrupted at a question: nothing was done");
}

/**
 * Puts a question to the person at the terminal; a signal breaks it off as Ctrl-C does.
 * @throws Problem `interrupted`
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
 * @throws Problem `usage` where nobody can be asked, `failed` where the answer is no, `interrupted`
 */
export async function confirm(context: Context, question: string): Promise<void> {
  const { globals } = context;
  if (globals.yes) return;
  if (!canAsk(context)) {
    throw new Problem(
      "usage",
      `${question} There is nobody to ask.`,
      "Give --yes to go on without a question.",
    );
  }
  const { askYes } = await import("../output/prompt.ts");
  const isAgreed = await ask(context, (terminal) => askYes(question, terminal));
  if (!isAgreed) throw new Problem("failed", "nothing was done: the answer was no");
}
