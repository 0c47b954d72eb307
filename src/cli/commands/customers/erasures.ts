import { table } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { limitFlag } from "../../program/read-records.ts";

export default command({
  summary: "List erasures of customers' data, newest first",
  calls: "read",
  examples: ["starpost customers erasures", "starpost customers erasures --limit 5 --json"],
  flags: { limit: limitFlag },
  notes: ["The record of an erasure contains no personal data, not even a hash of the address."],
  run: async (context, { flags: { limit } }) => {
    const { erasures } = await context.withService((service) => service.customers.erasures({ count: limit }));
    if (erasures.length === 0) context.messages.info("No erasures found.");
    return erasures;
  },
  render: (erasures) =>
    table(
      erasures.map(({ id, created_at, reviews: how, counts: { orders, reviews, questions, answers, mails } }) => {
        return { id, created_at, how, orders, reviews, questions, answers, emails: mails };
      }),
      ["id", "created_at", "how", "orders", "reviews", "questions", "answers", "emails"],
    ),
});
