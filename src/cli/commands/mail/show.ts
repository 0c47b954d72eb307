import { UserError, usageError } from "../../../config/user-error.ts";
import { describeHold } from "../../../contract/emails/sending.ts";
import { fields, type View } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { readWholeNumber } from "../../program/flag-values.ts";
import { isForScripts } from "../../program/global-flags.ts";
import { aboutOne, withService } from "../../program/with-service.ts";
import { describeRecord, formatTime } from "./email-format.ts";

export const mailShow = command({
  name: "mail show",
  summary: "Show an email: its recipient, state, events, and content",
  argument: "<id>",
  examples: ["starpost mail show 12", "starpost mail show 12 --html > email.html"],
  flags: {
    text: { description: "print only the plain-text body", exclusive: ["html"] },
    html: { description: "print only the HTML body" },
  },
  run: async (context, { arguments: [id = ""], flags }) => {
    const emailId = readWholeNumber(id, "<id>");
    const part: "html" | "text" | undefined = flags.html ? "html" : flags.text ? "text" : undefined;
    if (part && isForScripts(context.globals.format)) {
      throw usageError(
        `--${part} cannot be used with --format ${context.globals.format}`,
        `JSON output contains both bodies in "message". Omit --${part}.`,
      );
    }
    const email = await withService(context, async (service) => {
      const found = await aboutOne("Mail", emailId, () => service.emails.get({ mail_id: emailId }));
      const { rules } = await service.emailRules.list({});
      const says = rules.find(({ name }) => name === found.mail.reason)?.says ?? describeHold(found.mail.reason);
      return { ...found, says: says ?? null };
    });
    if (part && email.message === null) {
      throw new UserError(
        "failed",
        `email ${emailId} has no ${part} body because its template cannot be rendered`,
        `To see the error, run \`starpost mail templates preview ${email.mail.category}\`.`,
      );
    }
    return { ...email, part };
  },
  render: ({ mail, says, message, events, part }): View => {
    if (part) return viewOfBody(message?.[part] ?? "");
    const { id, name, email, category, state, attempts, order_id, product_id, sent_at, due_at } = mail;
    return fields({
      id,
      to: name === "" ? email : `${name} <${email}>`,
      subject: message?.subject ?? null,
      category,
      ...(mail.is_test && { about: describeRecord(mail) }),
      ...(order_id !== null && { order: order_id }),
      ...(product_id !== null && { product: product_id }),
      state,
      reason: says ?? mail.reason,
      [sent_at === null ? "due" : "sent"]: formatTime(sent_at ?? due_at),
      attempts,
      ...Object.fromEntries(
        events.map(({ event, occurred_at, detail }, at) => [
          `event ${at + 1}`,
          `${formatTime(occurred_at)}  ${event.replaceAll("_", " ")}${detail === null ? "" : ` (${detail})`}`,
        ]),
      ),
    });
  },
});

/** The lines of a body, unchanged except for the kind of line break. */
function viewOfBody(body: string): View {
  return {
    layout: "line",
    columns: ["line"],
    rows: body
      .trimEnd()
      .split(/\r?\n/)
      .map((line) => ({ line })),
  };
}
