import { table } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { limitFlag, readLimited } from "../../program/read-records.ts";

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
  flags: { limit: limitFlag },
  run: async (context, { arguments: [search = ""], flags: { limit } }) => {
    const { searchPage } = await import("../../../contract/lists/filters.ts");
    const list = { limit, page: searchPage, operation: "customers.find", noun: "customers" } as const;
    return context.withService((service) =>
      readLimited(context, list, async (count) => (await service.customers.find({ search, limit: count })).customers),
    );
  },
  render: (customers) => table(customers, ["email", "name", "order_id", "created_at"]),
});
