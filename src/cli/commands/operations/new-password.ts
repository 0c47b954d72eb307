import { UserError } from "../../../config/user-error.ts";
import { canPrompt, prompt } from "../../program/prompt.ts";
import type { Context } from "../../program/context.ts";
import { readSecretLine } from "../auth/secret-line.ts";

/**
 * A password for somebody new: from standard input where that is said, else from the person at the terminal.
 * @throws UserError `usage` where there is nobody to ask, `interrupted`
 */
export async function readNewPassword(
  context: Context,
  { isOnStdin }: { readonly isOnStdin: boolean },
): Promise<string> {
  if (isOnStdin) return readSecretLine(context.io.stdin, "password");
  if (!canPrompt(context)) {
    const hint = "Give it on standard input with --password-stdin.";
    throw new UserError("usage", "the password is missing, and there is nobody to ask", hint);
  }
  const { promptSecret } = await import("../../../terminal/prompt.ts");
  const answer = await prompt(context, (terminal) => promptSecret("Password", terminal));
  if (answer !== "") return answer;
  throw new UserError("usage", "no password was given");
}
