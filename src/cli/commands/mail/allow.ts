import { silent } from "../../../terminal/view.ts";
import { withService } from "../../program/with-service.ts";
import { command } from "../../program/command.ts";

const words = { bounces: "it had bounced", spamreports: "it had reported a mail as spam" } as const;

export const mailAllow = command({
  name: "mail allow",
  summary: "Let an address have mails again that bounced, or reported one as spam",
  argument: "<address>",
  examples: ["starpost mail allow ann@mail.example"],
  run: async (context, { arguments: [email = ""] }) => {
    const told = await withService(context, (service) => service.emailSuppressions.lift({ email }));
    const why = told.lifted.map((kind) => words[kind]).join(", and ");
    context.messages.info(
      told.lifted.length === 0
        ? `Nothing was keeping mails from ${email}.`
        : `${email} gets mails again: ${why}. What was not sent meanwhile stays so.`,
    );
    return told;
  },
  render: ({ email, lifted }) => silent({ email, lifted: lifted.join(" ") }),
});
