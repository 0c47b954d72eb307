import { silent } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";

const reasons = { bounces: "a bounce", spamreports: "a spam report", erased: "an erasure" } as const;

export default command({
  summary: "Resume emails to an address that bounced or reported spam",
  calls: "write",
  argument: "<address>",
  examples: ["starpost mail unsuppress ann@mail.example", "starpost mail unsuppress ann@mail.example --json"],
  notes: ["Emails that were suppressed in the meantime are not sent."],
  run: async (context, { arguments: [email = ""] }) => {
    const result = await context.withService((service) => service.emailSuppressions.lift({ email }));
    const lifted = result.lifted.map((kind) => reasons[kind]).join(" and ");
    context.messages.info(
      lifted === "" ? `${email} is not suppressed.` : `Resumed emails to ${email} (suppressed because of ${lifted}).`,
    );
    return result;
  },
  render: ({ email, lifted }) => silent({ email, lifted: lifted.join(" ") }),
});
