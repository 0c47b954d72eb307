import { table } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";

export default command({
  summary: "Show the email types that an address is unsubscribed from",
  calls: "read",
  argument: "<address>",
  examples: ["starpost unsubscribers find ann@mail.example", "starpost unsubscribers find ann@mail.example --json"],
  run: async (context, { arguments: [address = ""] }) => {
    const { findAddress } = await import("./addresses.ts");
    return findAddress(context, address);
  },
  render: (found) =>
    table(
      found.map(({ unsubscirbed_by_name: unsubscribed_by, ...row }) => ({ ...row, unsubscribed_by })),
      ["user_email", "type", "email_type", "unsubscribed_by"],
    ),
});
