import { table } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { listMails, mailListFlags } from "./email-list.ts";
import { wordDue, wordSubject } from "./email-format.ts";

export const mailQueue = command({
  name: "mail queue",
  summary: "List the mails that wait to be sent, the soonest first",
  examples: ["starpost mail queue", "starpost mail queue --order 1001"],
  flags: mailListFlags,
  run: async (context, { flags }) => {
    const mails = await listMails(context, flags, { state: "queued,leased,sending", sort: "soonest" });
    if (mails.length === 0)
      context.messages.info(
        "No mail waits to be sent. New orders bring some; `starpost mail why <order>` says why one did not.",
      );
    return mails.map((mail) => Object.assign(mail, { due: wordDue(mail, context.io.clock()) }));
  },
  render: (mails) =>
    table(
      mails.map((mail) => ({ ...mail, about: wordSubject(mail) })),
      ["id", "due", "email", "about", "category", "attempts"],
    ),
});
