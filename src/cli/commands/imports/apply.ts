import { silent } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { checkSummaryColumns, flattenSummary, statusOfImport } from "../records/import-view.ts";

export default command({
  summary: "Run a saved plan, if its files have not changed",
  database: "created",
  argument: "<plan.json>",
  examples: ["starpost imports apply plan.json", "starpost imports apply plan.json --json"],
  run: async (context, { arguments: [path = ""] }) => {
    await checkSummaryColumns(context.globals.columns);
    const { applyPlan } = await import("../records/plan-run.ts");
    return applyPlan(context, path);
  },
  render: (summary) => silent(flattenSummary(summary)),
  exitStatus: (summary) => statusOfImport(summary),
});
