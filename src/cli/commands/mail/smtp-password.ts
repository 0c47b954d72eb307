import { readVariable } from "../../../config/environment.ts";
import type { SmtpServer } from "../../../config/email-settings.ts";
import type { Context } from "../../program/context.ts";
import { promptPassword } from "../../program/prompt.ts";
import { readSecretLine } from "../auth/secret-line.ts";

interface Login {
  readonly host: string;
  readonly user: string;
  /** The stored settings of the same server. */
  readonly known: SmtpServer | null;
}

/**
 * Finds the password: standard input, environment, stored settings, or a prompt. A stored password is only used for the
 * server and user that it was stored for.
 * @throws UserError `usage`, `interrupted`
 */
export async function findPassword(
  context: Context,
  isOnStdin: boolean,
  { host, user, known }: Login,
): Promise<string> {
  if (isOnStdin) return readSecretLine(context.io.stdin, "password");
  const given = readVariable(context.io.env, "STARPOST_SMTP_PASSWORD");
  if (given !== undefined) return given;
  if (known?.user === user && known.password !== null) return known.password;
  return promptPassword(context, `the password of ${user}`, {
    question: `Password for ${user} at ${host}`,
    hint: "Pass it on standard input with --password-stdin, or set STARPOST_SMTP_PASSWORD.",
  });
}
