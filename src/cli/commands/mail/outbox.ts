import { emailStates } from "../../../contract/emails/categories.ts";
import { table } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { readOneOf } from "../records/import-flags.ts";
import { listMails, mailListFlags } from "./email-list.ts";
import { formatReason, wordSent, wordSubject } from "./email-format.ts";

const ended = "sent,not_sent,bounced,failed";

export const mailOutbox = command({
  name: "mail outbox",
  summary: "List the mails that were sent, or are not sent, those that were due last first",
  examples: ["starpost mail outbox", "starpost mail outbox --state bounced --limit 100"],
  flags: {
    state: {
      value: "<state>",
      description: `those in this state alone: ${emailStates.join(", ")}`,
      values: emailStates,
      read: (text: string, flag: string) => readOneOf(text, emailStates, flag),
    },
    ...mailListFlags,
  },
  run: async (context, { flags }) => {
    const mails = await listMails(context, flags, { state: flags.state ?? ended, sort: "latest" });
    if (mails.length === 0)
      context.messages.info(
        "There are no such mails yet: `starpost mail queue` lists those that wait to be sent.",
      );
    return mails;
  },
  render: (mails) =>
    table(
      mails.map((mail) => ({
        ...mail,
        when: wordSent(mail),
        about: wordSubject(mail),
        reason: formatReason(mail.reason),
      })),
      ["id", "when", "state", "email", "about", "reason"],
    ),
});
