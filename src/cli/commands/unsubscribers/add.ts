import { silent } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { exitStatus } from "../../program/exit-status.ts";
import { emailTypeFlags } from "./email-type-flag.ts";

export const unsubscribersAdd = command({
  name: "unsubscribers add",
  summary: "Unsubscribe addresses from emails",
  argument: "<address...>",
  flags: emailTypeFlags,
  examples: [
    "starpost unsubscribers add ann@mail.example",
    "starpost unsubscribers add ann@mail.example bob@mail.example --type 1",
  ],
  run: async (context, { arguments: addresses, flags }) => {
    const { changeAddresses } = await import("./addresses.ts");
    return changeAddresses(context, { addresses, types: flags.type, verb: "massCreate" });
  },
  render: () => silent(),
  exitStatus: ({ errors }) => (errors.length > 0 ? exitStatus.someRejected : exitStatus.done),
});
