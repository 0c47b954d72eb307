import { failedError, usageError } from "../../../config/user-error.ts";
import { describeHold } from "../../../contract/emails/sending.ts";
import type { EmailRecord } from "../../../contract/emails/emails.ts";
import { fields, type View } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { readWholeNumber } from "../../program/flag-values.ts";
import { isForScripts } from "../../program/global-flags.ts";
import { aboutOne } from "../../program/read-records.ts";
import { describeRecord, formatTime } from "./email-format.ts";

export default command({
  summary: "Show an email: its recipient, state, events, and content",
  calls: "read",
  argument: "<id>",
  examples: ["starpost mail show 12", "starpost mail show 12 --headers", "starpost mail show 12 --html > email.html"],
  flags: {
    headers: { description: "print only the headers, as they were sent", exclusive: ["text", "html"] },
    text: { description: "print only the plain-text body", exclusive: ["html"] },
    html: { description: "print only the HTML body" },
  },
  run: async (context, { arguments: [id = ""], flags }) => {
    const emailId = readWholeNumber(id, "<id>");
    const part = (["headers", "html", "text"] as const).find((name) => flags[name]);
    if (part && isForScripts(context.globals.format)) {
      throw usageError(
        `--${part} cannot be used with --format ${context.globals.format}`,
        `JSON output contains the headers and both bodies in "message". Omit --${part}.`,
      );
    }
    const email = await context.withService(async (service) => {
      const found = await aboutOne("Mail", emailId, () => service.emails.get({ mail_id: emailId }));
      const { rules } = await service.emailRules.list({});
      const description =
        rules.find(({ name }) => name === found.mail.reason)?.description ?? describeHold(found.mail.reason);
      return { ...found, reason_description: description ?? null };
    });
    if (part && email.message === null) {
      throw failedError(
        `email ${emailId} has no ${part} body because its template cannot be rendered`,
        `To see the error, run \`starpost mail templates preview ${email.mail.category}\`.`,
      );
    }
    if (part === "headers" && !email.message?.headers) {
      const hint = "Headers are stored when an email is sent, for as long as the account keeps emails.";
      throw failedError(`the headers of email ${emailId} are not stored`, hint);
    }
    return { ...email, part };
  },
  render: ({ mail, reason_description, message, events, part }): View => {
    if (part) return viewOfBody(message?.[part] ?? "");
    const { id, name, email, category, state, attempts, order_id, product_id, sent_at, due_at } = mail;
    const record = fields({
      id,
      to: name === "" ? email : `${name} <${email}>`,
      subject: message?.subject ?? null,
      category,
      ...(mail.is_test && { about: describeRecord(mail) }),
      ...(order_id !== null && { order: order_id }),
      ...(product_id !== null && { product: product_id }),
      state,
      reason: reason_description ?? mail.reason,
      [sent_at === null ? "due" : "sent"]: formatTime(sent_at ?? due_at),
      attempts,
      ...Object.fromEntries(
        events.map(({ event, occurred_at, detail }, at) => [
          `event ${at + 1}`,
          `${formatTime(occurred_at)}  ${event.replaceAll("_", " ")}${detail === null ? "" : ` (${detail})`}`,
        ]),
      ),
    });
    return message ? { ...record, lines: [describeOrigin(mail, message), "", ...linesOf(message.text)] } : record;
  },
});

/** The lines of a body, unchanged except for the kind of line break. */
function viewOfBody(body: string): View {
  return {
    layout: "line",
    columns: ["line"],
    rows: linesOf(body).map((line) => ({ line })),
  };
}

const linesOf = (body: string) => body.trimEnd().split(/\r?\n/);

/** States whether the content is what the recipient got. */
function describeOrigin({ state }: EmailRecord, { headers }: { readonly headers?: string | null | undefined }): string {
  if (headers) return "The message as it was sent:";
  const isSent = state === "sent" || state === "bounced";
  return isSent ? "The message is not stored; with current data, it would be:" : "With current data, the message is:";
}
