import { silent } from "../../output/view.ts";
import { command } from "../command.ts";
import { exitStatus } from "../exit-status.ts";
import { confirmDestruction } from "../question.ts";

export const unsubscribersRemove = command({
  name: "unsubscribers remove",
  summary: "Let addresses get mails again; who unsubscribed by themselves stays so",
  argument: "<address...>",
  flags: {
    type: {
      takes: "<email_type_id>",
      summary: "only of this type, 1 to 17 (every type; repeatable)",
      isRepeatable: true,
    },
  },
  examples: ["starpost unsubscribers remove ann@mail.example --type 1 --yes"],
  run: async (context, { arguments: addresses, flags }) => {
    await confirmDestruction(
      context,
      `Take ${addresses.join(", ")} off the list, so that mails go there again?`,
    );
    const { changeAddresses } = await import("../unsubscribers-run.ts");
    return changeAddresses(context, { addresses, types: flags.type, verb: "massDelete" });
  },
  render: () => silent(),
  exitStatus: ({ errors }) => (errors.length > 0 ? exitStatus.someRejected : exitStatus.done),
});
