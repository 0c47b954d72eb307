import { table } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";

export default command({
  summary: "List the accounts of the embedded database",
  examples: ["starpost account list", "starpost account list --json"],
  run: async (context) => {
    const { toRecord, withAccounts } = await import("./with-accounts.ts");
    return withAccounts(context, undefined, async (accounts) => (await accounts.list()).map(toRecord));
  },
  render: (accounts) => ({
    ...table(accounts, ["app_key", "state", "name", "email"]),
    wholeColumns: ["app_key"],
  }),
});
