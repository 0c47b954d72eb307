import type { Cell } from "../../../terminal/view.ts";
import { table } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";

export const unsubscribersFind = command({
  name: "unsubscribers find",
  summary: "Tell which mails an address gets none of, and who decided it",
  argument: "<address>",
  examples: ["starpost unsubscribers find ann@mail.example"],
  run: async (context, { arguments: [address = ""] }) => {
    const { findAddress } = await import("./addresses.ts");
    return findAddress(context, address);
  },
  render: (found) =>
    table(found as Record<string, Cell>[], ["user_email", "email_type_id", "unsubscirbed_by_name", "about"]),
});
