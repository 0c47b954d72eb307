import type { Cell } from "../../output/view.ts";
import { table } from "../../output/view.ts";
import { command } from "../command.ts";

export const unsubscribersFind = command({
  name: "unsubscribers find",
  summary: "Tell which mails an address gets none of, and who decided it",
  argument: "<address>",
  examples: ["starpost unsubscribers find ann@mail.example"],
  run: async (context, { arguments: [address = ""] }) => {
    const { findAddress } = await import("../unsubscribers-run.ts");
    return findAddress(context, address);
  },
  render: (found) =>
    table(found as Record<string, Cell>[], ["user_email", "email_type_id", "unsubscirbed_by_name", "about"]),
});
