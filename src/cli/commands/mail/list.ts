import { emailStates } from "../../../contract/emails/categories.ts";
import type { EmailRecord, EmailSort } from "../../../contract/emails/emails.ts";
import { operationCards } from "../operations/operation-cards.ts";
import { command } from "../../program/command.ts";
import { valuesOfField } from "../../program/field-values.ts";
import { oneOf, stateFlag, tableLimitFlag } from "../../program/flag-values.ts";
import { emailFilters, toEmailQuery } from "./email-filters.ts";
import { describeRecord, formatReason, formatSentOrDue } from "./email-format.ts";

const columns = ["id", "state", "date", "email", "category", "about", "reason"];
const allColumns = [...new Set([...columns, ...(operationCards["emails.list"]?.columns ?? [])])];

const sorts = valuesOfField("emails.list", "sort") as readonly EmailSort[];
export default command({
  summary: "List emails, newest first",
  calls: "read",
  examples: [
    "starpost mail list --limit 50",
    "starpost mail list --state queued --sort soonest",
    "starpost mail list --order 1001",
    "starpost mail list --search smith",
    "starpost mail list --type reviews --state failed --since 7d",
    "starpost mail list --state bounced,failed --format csv > undelivered.csv",
  ],
  flags: {
    state: stateFlag(emailStates),
    ...emailFilters,
    order: { value: "<order_id>", description: "only emails about this order" },
    product: { value: "<product_id>", description: "only emails about this product" },
    search: { value: "<text>", description: "only emails whose address, name, or order ID contains this text" },
    sort: {
      value: "<order>",
      description: "newest or oldest by creation; soonest or latest by due date",
      default: "newest",
      ...oneOf(sorts),
    },
    limit: tableLimitFlag,
  },
  run: async (context, { flags }) => {
    const { order, product, search, sort, limit } = flags;
    const input = {
      ...toEmailQuery(flags, context.io.clock()),
      ...(order !== undefined && { order_id: order }),
      ...(product !== undefined && { product_id: product }),
      ...(search !== undefined && { search }),
      sort,
    };
    const { openList } = await import("../../program/read-records.ts");
    const hint = order === undefined ? "" : ` To find out why, run \`starpost mail why ${order}\`.`;
    const shown = { columns, allColumns, ifEmpty: `No emails found.${hint}` };
    return openList<EmailRecord>(context, { operation: "emails.list", input, limit }, shown, (row) => ({
      ...row,
      date: formatSentOrDue(row),
      about: describeRecord(row),
      reason: formatReason(row.reason),
    }));
  },
  render: columns,
});
