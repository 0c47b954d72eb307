import { silent } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { confirmDestruction } from "../../program/confirm.ts";
import { exitStatus } from "../../program/exit-status.ts";
import { emailTypeFlags } from "./add.ts";

export default command({
  summary: "Resume emails to unsubscribed addresses",
  calls: "write",
  argument: "<address...>",
  flags: emailTypeFlags,
  examples: [
    "starpost unsubscribers remove ann@mail.example",
    "starpost unsubscribers remove ann@mail.example --type reviews --yes",
  ],
  notes: ["A person who unsubscribed through a link in an email stays unsubscribed."],
  run: async (context, { arguments: addresses, flags }) => {
    await confirmDestruction(context, `Resume emails to ${addresses.join(", ")}?`);
    const { changeAddresses } = await import("./addresses.ts");
    return changeAddresses(context, { addresses, types: flags.type, verb: "massDelete" });
  },
  render: () => silent(),
  exitStatus: ({ errors }) => (errors.length > 0 ? exitStatus.someRejected : exitStatus.done),
});
