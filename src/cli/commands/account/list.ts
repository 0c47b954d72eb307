import { RowStream } from "../../../terminal/row-stream.ts";
import { table } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";

const columns = ["app_key", "state", "name", "email"];

export default command({
  summary: "List the accounts of the embedded database",
  examples: ["starpost account list", "starpost account list --json"],
  run: async (context) => {
    const { listAccounts } = await import("./with-accounts.ts");
    const allColumns = [...columns, "created_at", "disabled_at", "secret_changed_at"];
    return new RowStream(await listAccounts(context), { columns, allColumns });
  },
  render: () => table([], columns),
});
