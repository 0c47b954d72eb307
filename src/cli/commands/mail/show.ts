import { UserError } from "../../../config/user-error.ts";
import { fields, type View } from "../../../terminal/view.ts";
import { aboutOne, withService } from "../../program/with-service.ts";
import { command } from "../../program/command.ts";
import { readWholeNumber } from "../../program/flag-values.ts";
import { isForScripts } from "../../program/global-flags.ts";
import { wordSubject, wordTime } from "./email-format.ts";

export const mailShow = command({
  name: "mail show",
  summary: "Show a mail: to whom, what became of it and why, and what it says",
  argument: "<id>",
  examples: ["starpost mail show 12", "starpost mail show 12 --html > mail.html"],
  flags: {
    text: { description: "print its text alone", exclusive: ["html"] },
    html: { description: "print its HTML alone" },
  },
  run: async (context, { arguments: [id = ""], flags }) => {
    const mailId = readWholeNumber(id, "<id>");
    const part: "html" | "text" | undefined = flags.html ? "html" : flags.text ? "text" : undefined;
    if (part && isForScripts(context.globals.format)) {
      throw new UserError(
        "usage",
        `--${part} is for people: with --json, both are in \`message\``,
        `Leave --${part} out.`,
      );
    }
    const found = await withService(context, async (service) => {
      const told = await aboutOne("Mail", mailId, () => service.emails.get({ mail_id: mailId }));
      const { rules } = await service.emailRules.list({});
      return { ...told, says: rules.find(({ name }) => name === told.mail.reason)?.says ?? null };
    });
    if (part && found.message === null) {
      throw new UserError(
        "failed",
        `mail ${mailId} has no ${part}: its template cannot be followed`,
        "Show what is wrong with it: starpost mail template preview <category>.",
      );
    }
    return { ...found, part };
  },
  render: ({ mail, says, message, events, part }): View => {
    if (part) return asLines(message?.[part] ?? "");
    const { order_id, product_id, reason, sent_at, due_at, ...rest } = mail;
    return fields({
      id: mail.id,
      to: rest.name === "" ? rest.email : `${rest.name} <${rest.email}>`,
      subject: message?.subject ?? null,
      category: rest.category,
      ...(rest.is_test && { about: wordSubject(mail) }),
      ...(order_id !== null && { order: order_id }),
      ...(product_id !== null && { product: product_id }),
      state: rest.state,
      reason: says ?? reason,
      [sent_at === null ? "due" : "sent"]: wordTime(sent_at ?? due_at),
      attempts: rest.attempts,
      ...Object.fromEntries(
        events.map(({ event, occurred_at, detail }, at) => [
          `event ${at + 1}`,
          `${wordTime(occurred_at)}  ${event.replaceAll("_", " ")}${detail === null ? "" : ` (${detail})`}`,
        ]),
      ),
    });
  },
});

/** As it is, but for what would be a command to the terminal. */
function asLines(text: string): View {
  const lines = text.trimEnd().split(/\r?\n/);
  return {
    layout: "line",
    columns: ["line"],
    rows: lines.map((line) => ({ line: line.replaceAll(/\p{Cc}/gu, " ") })),
  };
}
