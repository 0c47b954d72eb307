import { readSender, writeSender } from "../../../config/mail-address.ts";
import type { StoredMailSettings } from "../../../config/mail-settings.ts";
import { promptValue } from "../../program/prompt.ts";
import type { Context } from "../../program/context.ts";
import { findPassword } from "./smtp-password.ts";

/** Return alone takes what stands in brackets; what cannot be is said, and asked for again. */
export async function askForAll(context: Context, stored: StoredMailSettings): Promise<StoredMailSettings> {
  const { matchPort, readHost, readSmtpPort, readTlsMode, tlsModes } =
    await import("../../../config/mail-settings.ts");
  const put = <T>(question: string, usual: string, read: (answer: string) => T) =>
    promptValue(context, { question, usual }, read);
  const { smtp } = stored;
  const host = await put("Mail server", smtp?.host ?? "", (text) => readHost(text, "the mail server"));
  const known = host === smtp?.host ? smtp : null;
  const tls = await put(
    `Encryption: ${tlsModes.join(", ")}`,
    known?.tls ?? matchPort(undefined, undefined).tls,
    (text) => readTlsMode(text, "the encryption"),
  );
  const port = await put(
    "Port",
    String(known?.tls === tls ? known.port : matchPort(undefined, tls).port),
    (text) => readSmtpPort(text, "the port"),
  );
  const user = await put("User, or - to sign in nowhere", known?.user ?? "-", (text) =>
    text === "-" ? null : text,
  );
  const password = user === null ? null : await findPassword(context, false, { host, user, known });
  const from = await put(
    'Mails come from, such as "Tea & Cups <reviews@shop.example>"',
    stored.from ? writeSender(stored.from) : "",
    (text) => readSender(text, "who mails come from"),
  );
  return { smtp: { host, port, tls, user, password }, from };
}
