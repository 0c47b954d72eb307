import { UserError } from "../../../config/user-error.ts";
import { ServiceError } from "../../../contract/errors.ts";
import { fields } from "../../../terminal/view.ts";
import { withService } from "../../program/with-service.ts";
import { command } from "../../program/command.ts";
import { readText } from "../../program/flag-values.ts";

/** Among so many of the newest mails the test is found, also where orders come in at the same time. */
const newest = 100;

export const mailTest = command({
  name: "mail test",
  summary: "Queue a review request about a sample order",
  examples: ["starpost mail test", "starpost mail test --to ann@mail.example"],
  flags: {
    to: { value: "<address>", description: "where it goes (the account's own address)", read: readText },
  },
  run: async (context, { flags }) => {
    const email = flags.to === undefined ? {} : { email: flags.to };
    const { mode } = await context.profile();
    const found = await withService(context, async (service) => {
      await service.emails.sendTest(email).catch((error: unknown) => {
        throw flags.to === undefined ? asUnaddressed(error) : error;
      });
      const { mails } = await service.emails.list({ ...email, category: "map", count: newest });
      return mails.find(({ is_test }) => is_test);
    });
    if (!found) throw new Error("the test mail was queued, and is not among the newest mails");
    const who =
      mode === "local" ? "`starpost mail run --once`, or a `starpost serve` that runs" : "The service";
    context.messages.info(
      `Queued mail ${found.id} to ${found.email}. ${who} sends it: starpost mail show ${found.id}`,
    );
    return found;
  },
  render: ({ id, email, state }) => fields({ id, email, state }),
});

function asUnaddressed(error: unknown): unknown {
  if (!(error instanceof ServiceError) || error.field !== "email") return error;
  return new UserError(
    "usage",
    "the account has no address of its own",
    "Say where the test mail goes: starpost mail test --to you@shop.example",
    error,
  );
}
