import { countOf } from "../../../terminal/plural.ts";
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
  database: "created",
  calls: "write",
  argument: "<address...>",
  flags: emailTypeFlags,
  examples: [
    "starpost unsubscribers add ann@mail.example",
    "starpost unsubscribers add ann@mail.example bob@mail.example --type reviews",
    "starpost unsubscribers add - --type reviews --yes < addresses.txt",
  ],
  notes: ["- stands for the addresses on standard input, separated by white space or commas."],
  run: async (context, { arguments: given, flags }) => {
    const { changeAddresses } = await import("./addresses.ts");
    const { confirmSelection, readListed } = await import("../../program/selection.ts");
    const addresses = await readListed(context.io, given);
    if (given.includes("-")) {
      const question = `Unsubscribe ${countOf(addresses.length, "address", "addresses")}?`;
      await confirmSelection(context, { rows: addresses.map((address) => [address]), question });
    }
    return changeAddresses(context, { addresses, types: flags.type, verb: "massCreate" });
  },
  render: () => silent(),
  exitStatus: ({ errors }) => (errors.length > 0 ? exitStatus.someRejected : exitStatus.done),
});
