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
  notes: ["The question names the people who unsubscribed themselves through a link in an email."],
  run: async (context, { arguments: addresses, flags }) => {
    const { changeAddresses, findOwn } = await import("./addresses.ts");
    const { describeOwn } = await import("../../../records/unsubscribers/import.ts");
    const own = await findOwn(context, { addresses, types: flags.type });
    await confirmDestruction(context, describeOwn(own, own.length) ?? `Resume emails to ${addresses.join(", ")}?`);
    return changeAddresses(context, { addresses, types: flags.type, verb: "massDelete" });
  },
  render: () => silent(),
  exitStatus: ({ errors }) => (errors.length > 0 ? exitStatus.someRejected : exitStatus.done),
});
