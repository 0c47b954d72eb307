import { formatBytes } from "../../../terminal/plural.ts";
import { table } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";

export default command({
  summary: "List the backups that were made on this machine, newest first",
  database: "optional",
  examples: ["starpost backup list", "starpost backup list --json"],
  notes: [
    "Lists the backups of all databases, with their original places. A file that was moved or deleted is marked as missing. " +
      "The list is backups.json in the data folder.",
  ],
  run: async (context) => {
    const { paths } = await context.host();
    const { listBackups } = await context.io.loadApp();
    const found = await listBackups(paths);
    if (found.length === 0) {
      context.messages.info("No backups found. To make one, run `starpost backup create`.");
    }
    return found;
  },
  render: (backups) => ({
    ...table(
      backups.map(({ file, created_at, database, bytes, scheduled, encrypted, exists }) => ({
        created_at,
        size: formatBytes(bytes),
        state: `${exists ? (scheduled ? "scheduled" : "kept") : "missing"}${encrypted === true ? ", encrypted" : ""}`,
        database,
        file,
      })),
      ["created_at", "size", "state", "database", "file"],
    ),
    wholeColumns: ["created_at", "file"],
  }),
});
