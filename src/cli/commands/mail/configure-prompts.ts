import { readVariable } from "../../../config/environment.ts";
import {
  parseSender,
  formatSender,
  type SmtpServer,
  type StoredEmailSettings,
} from "../../../config/email-settings.ts";
import { promptPassword, promptValue } from "../../program/prompt.ts";
import type { Context } from "../../program/context.ts";
import { readSecretLine } from "../auth/secret-line.ts";

/** Prompts for every setting. The stored value is the default; invalid answers are rejected and prompted for again. */
export async function promptSettings(context: Context, stored: StoredEmailSettings): Promise<StoredEmailSettings> {
  const { completePort, parseHost, parsePort, parseTlsMode, tlsModes } =
    await import("../../../config/email-settings.ts");
  const promptFor = <T>(question: string, usual: string, read: (answer: string) => T) =>
    promptValue(context, { question, usual }, read);
  const { smtp } = stored;
  const host = await promptFor("Mail server", smtp?.host ?? "", (text) => parseHost(text, "the mail server"));
  const known = host === smtp?.host ? smtp : null;
  const tls = await promptFor(
    `Encryption: ${tlsModes.join(", ")}`,
    known?.tls ?? completePort(undefined, undefined).tls,
    (text) => parseTlsMode(text, "the encryption"),
  );
  const port = await promptFor(
    "Port",
    String(known?.tls === tls ? known.port : completePort(undefined, tls).port),
    (text) => parsePort(text, "the port"),
  );
  const user = await promptFor("User name, or - for no authentication", known?.user ?? "-", (text) =>
    text === "-" ? null : text,
  );
  const password = user === null ? null : await findPassword(context, false, { host, user, known });
  const from = await promptFor(
    'Sender, such as "Tea & Cups <reviews@shop.example>"',
    stored.from ? formatSender(stored.from) : "",
    (text) => parseSender(text, "the sender"),
  );
  return { smtp: { host, port, tls, user, password }, from };
}

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
