import { nameEmailType } from "../../../contract/emails/type-names.ts";
import { RowStream } from "../../../terminal/row-stream.ts";
import { command } from "../../program/command.ts";
import type { Flags } from "../../program/flag.ts";
import { filteredList } from "../operations/filtered-list.ts";

const listed = filteredList({
  operation: "unsubscribers.list",
  search: "unsubscribers.search",
  summary: "List all unsubscribed addresses, or those that match filters",
  descriptions: {
    email: "only this address",
    search: "only addresses that contain this text",
    since_date: "only addresses unsubscribed from this time on: 7d, 24h, 2w, yesterday, or a date or timestamp (UTC)",
    until_date: "only addresses unsubscribed up to this time, or the end of this day (UTC)",
  },
  addedColumns: ["type"],
  examples: [
    "starpost unsubscribers list",
    "starpost unsubscribers list --email ann@mail.example",
    "starpost unsubscribers list --type reviews --since 7d",
  ],
})("unsubscribers list");

/** Adds the names of the email types, of which the operations return only the numbers. */
export default command<Flags, unknown>({
  ...listed,
  run: async (context, given) => {
    const rows = await listed.run(context, given);
    if (!(rows instanceof RowStream)) return rows;
    const named = rows.map((row) => ({ ...row, type: nameEmailType(Number(row["email_type_id"])) }));
    const columns = rows.columns.map((column) => (column === "email_type_id" ? "type" : column));
    return named.showing([...new Set(columns)]);
  },
});
