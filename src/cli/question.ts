import { Problem } from "../config/problem.ts";
import type { Context } from "./context.ts";
import { isAutomatic } from "./talk.ts";

/** Whether a person is there to answer, and may be asked. */
export function canAsk({ io, globals }: Context): boolean {
  return io.isStdinTerminal && io.isStderrTerminal && globals.input && !isAutomatic(io);
}

/**
 * Asks before something is done that cannot simply be done back. `--yes` answers.
 * @throws Problem `usage` where nobody can be asked, or the answer is no
 */
export async function confirm(context: Context, question: string): Promise<void> {
  const { io, globals } = context;
  if (globals.yes) return;
  if (!canAsk(context)) {
    throw new Problem(
      "usage",
      `${question} There is nobody to ask.`,
      "Give --yes to go on without a question.",
    );
  }
  const { askYes } = await import("../output/prompt.ts");
  const answer = await askYes(question, { input: io.stdin, output: io.stderr });
  if (answer !== true) throw new Problem("usage", "nothing was done", "The answer was not yes.");
}
