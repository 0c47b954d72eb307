import { silent } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { emailTypeFlags } from "./email-type-flag.ts";
import { exitStatus } from "../../program/exit-status.ts";
import { confirmDestruction } from "../../program/confirm.ts";

export const unsubscribersRemove = command({
  name: "unsubscribers remove",
  summary: "Let addresses get mails again; who unsubscribed by themselves stays so",
  argument: "<address...>",
  flags: emailTypeFlags,
  examples: ["starpost unsubscribers remove ann@mail.example --type 1 --yes"],
  run: async (context, { arguments: addresses, flags }) => {
    await confirmDestruction(
      context,
      `Take ${addresses.join(", ")} off the list, so that mails go there again?`,
    );
    const { changeAddresses } = await import("./addresses.ts");
    return changeAddresses(context, { addresses, types: flags.type, verb: "massDelete" });
  },
  render: () => silent(),
  exitStatus: ({ errors }) => (errors.length > 0 ? exitStatus.someRejected : exitStatus.done),
});
