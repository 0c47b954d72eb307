import { silent } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { emailType } from "../../program/flag-values.ts";
import { exitStatus } from "../../program/exit-status.ts";

/** Restricts a command to some email types. */
export const emailTypeFlags = {
  type: {
    value: "<type>",
    description: "only this email type, by name or number, 1 to 17 (default: all)",
    isRepeatable: true,
    ...emailType,
  },
} as const;

export default command({
  summary: "Unsubscribe addresses from emails",
  calls: "write",
  argument: "<address...>",
  flags: emailTypeFlags,
  examples: [
    "starpost unsubscribers add ann@mail.example",
    "starpost unsubscribers add ann@mail.example bob@mail.example --type reviews",
  ],
  run: async (context, { arguments: addresses, flags }) => {
    const { changeAddresses } = await import("./addresses.ts");
    return changeAddresses(context, { addresses, types: flags.type, verb: "massCreate" });
  },
  render: () => silent(),
  exitStatus: ({ errors }) => (errors.length > 0 ? exitStatus.someRejected : exitStatus.done),
});
