import { usageError } from "../../../config/user-error.ts";
import { ServiceError } from "../../../contract/errors.ts";
import { fields } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { readText } from "../../program/flag-values.ts";
import { withService } from "../../program/with-service.ts";

/** How many of the newest emails are searched for the test email, since orders may queue others at the same time. */
const searchedEmails = 100;

export const mailTest = command({
  name: "mail test",
  summary: "Send a test review-request email about a sample order",
  examples: ["starpost mail test --to you@shop.example", "starpost mail test --to ann@mail.example --json"],
  flags: {
    to: {
      value: "<address>",
      description: "recipient (default: the account's email address)",
      read: readText,
    },
  },
  run: async (context, { flags: { to } }) => {
    const recipient = to === undefined ? {} : { email: to };
    const { mode } = await context.profile();
    const email = await withService(context, async (service) => {
      await service.emails.sendTest(recipient).catch((error: unknown) => {
        throw to === undefined ? explainMissingAddress(error) : error;
      });
      const { mails } = await service.emails.list({ ...recipient, category: "map", count: searchedEmails });
      return mails.find(({ is_test }) => is_test);
    });
    if (!email) throw new Error("the test email was queued but is not among the newest emails");
    const sender =
      mode === "local" ? "To send it, run `starpost mail run --once` or `starpost serve`." : "The service sends it.";
    context.messages.info(
      `Queued email ${email.id} to ${email.email}. ${sender} To check its state, run \`starpost mail show ${email.id}\`.`,
    );
    return email;
  },
  render: ({ id, email, state }) => fields({ id, email, state }),
});

function explainMissingAddress(error: unknown): unknown {
  if (!(error instanceof ServiceError) || error.field !== "email") return error;
  const hint = "Specify the recipient: starpost mail test --to you@shop.example";
  return usageError("the account has no email address", hint, error);
}
