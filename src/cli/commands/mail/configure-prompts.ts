import { parseSender, formatSender } from "../../../config/email-sender.ts";
import type { StoredEmailSettings } from "../../../config/email-settings.ts";
import { promptValue } from "../../program/prompt.ts";
import type { Context } from "../../program/context.ts";
import { findPassword } from "./smtp-password.ts";

/** Prompts for every setting. The stored value is the default; invalid answers are rejected and prompted for again. */
export async function promptSettings(
  context: Context,
  stored: StoredEmailSettings,
): Promise<StoredEmailSettings> {
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
