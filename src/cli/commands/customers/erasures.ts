import type { OutputOf } from "../../../service/transport.ts";
import { command } from "../../program/command.ts";
import { tableLimitFlag } from "../../program/flag-values.ts";

type Erasure = OutputOf<"customers.erasures">["erasures"][number];

const columns = ["id", "created_at", "how", "orders", "reviews", "questions", "answers", "emails"];

export default command({
  summary: "List erasures of customers' data, newest first",
  calls: "read",
  examples: ["starpost customers erasures", "starpost customers erasures --limit 5 --json"],
  flags: { limit: tableLimitFlag },
  notes: ["The record of an erasure contains no personal data, not even a hash of the address."],
  run: async (context, { flags: { limit } }) => {
    const { openList } = await import("../../program/read-records.ts");
    const list = { operation: "customers.erasures", input: {}, limit } as const;
    const shown = { columns, allColumns: columns, ifEmpty: "No erasures found." };
    return openList<Erasure>(context, list, shown, ({ id, created_at, reviews: how, counts }) => {
      const { orders, reviews, questions, answers, mails } = counts;
      return { id, created_at, how, orders, reviews, questions, answers, emails: mails };
    });
  },
  render: columns,
});
