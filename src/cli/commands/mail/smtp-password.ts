import { readVariable } from "../../../config/environment.ts";
import type { SmtpServer } from "../../../config/mail-settings.ts";
import { UserError } from "../../../config/user-error.ts";
import type { Context } from "../../program/context.ts";
import { canPrompt, prompt } from "../../program/prompt.ts";
import { readSecretLine } from "../auth/secret-line.ts";

interface Login {
  readonly host: string;
  readonly user: string;
  /** What is stored of the same server. */
  readonly known: SmtpServer | null;
}

/** A password goes to the server and for the user that it was given for, and to no other. */
export async function findPassword(
  context: Context,
  isOnStdin: boolean,
  { host, user, known }: Login,
): Promise<string> {
  if (isOnStdin) return readSecretLine(context.io.stdin, "password");
  const given = readVariable(context.io.env, "STARPOST_SMTP_PASSWORD");
  if (given !== undefined) return given;
  if (known?.user === user && known.password !== null) return known.password;
  if (!canPrompt(context)) {
    throw new UserError(
      "usage",
      `the password of ${user} is missing, and there is nobody to ask`,
      "Give it on standard input with --password-stdin, or in STARPOST_SMTP_PASSWORD.",
    );
  }
  const { promptSecret } = await import("../../../terminal/prompt.ts");
  const answer = await prompt(context, (terminal) =>
    promptSecret(`Password of ${user} at ${host}`, terminal),
  );
  if (answer !== "") return answer;
  throw new UserError(
    "usage",
    "no password was given",
    "Nothing was changed. Try again, or give it with --password-stdin.",
  );
}
