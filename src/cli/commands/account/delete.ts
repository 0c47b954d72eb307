import type { AccountDetails } from "../../../app/ports.ts";
import { countOf } from "../../../terminal/plural.ts";
import { silent } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";

export default command({
  summary: "Delete an account and all of its data",
  isLocalChange: true,
  argument: "<app_key>",
  examples: ["starpost account delete k3J9xQ", "starpost account delete k3J9xQ --yes --json"],
  notes: [
    "The account is disabled first. If the deletion is interrupted, the account stays disabled, and the same command " +
      "continues. Deleting the last account of a database is possible; the next command creates a new one.",
  ],
  run: async (context, { arguments: [appKey = ""] }) => {
    const { withAccounts } = await import("./with-accounts.ts");
    const { confirmByName } = await import("../../program/confirm.ts");
    return withAccounts(context, appKey, async (accounts) => {
      const found = await accounts.show(appKey);
      await confirmByName(context, describeLoss(found), appKey);
      await context.announceWrite();
      if (context.isDryRun) await context.change(describeLoss(found), () => Promise.resolve());
      const progress = await context.messages.openProgress();
      try {
        const rows = await accounts.delete(appKey, (deleted) => {
          progress.show(() => `Deleting: ${countOf(deleted, "row")}`);
        });
        context.messages.info(`Deleted account ${appKey} (${countOf(rows, "row")}).`);
        return { app_key: appKey, deleted_rows: rows, records: found.records };
      } finally {
        progress.stop();
      }
    });
  },
  render: ({ app_key, deleted_rows }) => silent({ app_key, deleted_rows }),
});

function describeLoss({ appKey, name, records }: AccountDetails): string {
  const counts = Object.entries(records)
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => countOf(count, kind.slice(0, -1)));
  const what = counts.length === 0 ? "which has no records" : `with ${counts.join(", ")}`;
  return `Account ${appKey}${name === null ? "" : ` (${name})`}, ${what}, is deleted. This cannot be undone.`;
}
