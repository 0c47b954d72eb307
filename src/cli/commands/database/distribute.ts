import type { Distribution } from "../../../app/ports.ts";
import { countOf } from "../../../terminal/plural.ts";
import { silent } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { confirmDestruction } from "../../program/confirm.ts";

export default command({
  summary: "Distribute the tables of a PostgreSQL database over several servers by account (Citus)",
  examples: ["starpost database distribute", "starpost database distribute --profile shop --yes --json"],
  notes: [
    "Requires the Citus extension. Stop all servers and workers first, and make a backup: tables are locked while their rows " +
      "are moved, and Citus can undo it only table by table. Run the command again at any time; it distributes only what is " +
      "not distributed yet. Later migrations distribute the tables that they add.",
  ],
  run: async (context) => {
    const { findLocalProfile } = await import("../serve/server-run.ts");
    const profile = await findLocalProfile(context, "has a database");
    const { openDistribution } = await context.io.loadApp();
    const plan = await openDistribution(await context.host(), profile);
    if (!plan.addsExtension && [plan.distributed, plan.reference, plan.local].every(({ length }) => length === 0)) {
      context.messages.info(`The tables of ${profile.shownAs} are already distributed.`);
      return toData(plan);
    }
    await confirmDestruction(
      context,
      `Distribute the tables of ${profile.shownAs} by account? They are locked meanwhile.`,
    );
    const done = await plan.distribute();
    const { distributed, reference, local } = done;
    const moved = local.length === 0 ? "" : ` Moved ${countOf(local.length, "table")} to the coordinator.`;
    context.messages.info(
      `Distributed ${countOf(distributed.length, "table")} by account, and copied ${countOf(reference.length, "table")} to all servers.${moved}`,
    );
    return toData(done);
  },
  render: ({ distributed, reference, local }) =>
    silent({ distributed: distributed.length, reference: reference.length, local: local.length }),
});

function toData({ distributed, reference, local }: Pick<Distribution, "distributed" | "reference" | "local">) {
  return { distributed, reference, local };
}
