import { table } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { tableLimitFlag } from "../../program/flag-values.ts";

export default command({
  summary: "Find customers by part of a name, an address, or an order ID",
  calls: "read",
  argument: "<text>",
  argumentHelp: { text: { description: "part of a name, an address, or an order ID" } },
  examples: [
    "starpost customers find smith",
    "starpost customers find @mail.example --limit 50",
    "starpost customers find 1001",
  ],
  notes: [
    "Finds buyers, authors of reviews and questions, and unsubscribers. Case and accents are ignored. The text must have at " +
      "least 3 characters, or 2 of Chinese, Japanese, or Korean. The order is the newest one that was found.",
  ],
  flags: { limit: tableLimitFlag },
  run: async (context, { arguments: [search = ""], flags }) => {
    const { searchPage } = await import("../../../contract/lists/filters.ts");
    const { findLimit, reportLimit } = await import("../../program/read-records.ts");
    // The service returns one page. One more, to find out whether there are more.
    const limit = Math.min(findLimit(context, flags.limit) ?? Infinity, searchPage.max - 1);
    const { customers } = await context.withService((service) => service.customers.find({ search, limit: limit + 1 }));
    if (customers.length === 0) context.messages.info("No customers found.");
    if (customers.length > limit) reportLimit(context, limit);
    return customers.slice(0, limit);
  },
  render: (customers) => table(customers, ["email", "name", "order_id", "created_at"]),
});
