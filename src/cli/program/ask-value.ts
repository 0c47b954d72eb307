import { UserError } from "../../config/user-error.ts";
import type { Context } from "./context.ts";
import { ask } from "./confirm.ts";

/**
 * Asks for a value until it can be read. Return alone takes the usual one, which stands in brackets.
 * @throws UserError `interrupted`
 */
export async function askValue<T>(
  context: Context,
  { question, usual = "" }: { readonly question: string; readonly usual?: string | undefined },
  read: (answer: string) => T,
): Promise<T> {
  const { promptText } = await import("../../terminal/prompt.ts");
  const shown = usual === "" ? question : `${question} (${usual})`;
  for (;;) {
    const answer = (await ask(context, (terminal) => promptText(shown, terminal))).trim();
    try {
      return read(answer === "" ? usual : answer);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      context.talk.notice(error.hint === undefined ? error.message : `${error.message}. ${error.hint}`);
    }
  }
}
