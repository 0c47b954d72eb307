import { silent } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { importFlags, paceFlags } from "../records/import-flags.ts";
import { checkSummaryColumns, flattenSummary, statusOfImport } from "../records/import-view.ts";

export default command({
  summary: "Resume an import run that did not finish",
  database: "created",
  argument: "<id>",
  examples: ["starpost imports resume 20260131-094500-3f2a1c", "starpost imports resume 20260131 --rate 2"],
  flags: { ...paceFlags, verify: importFlags.verify },
  run: async (context, { arguments: [id = ""], flags }) => {
    await checkSummaryColumns(context.globals.columns);
    const { resumeRun } = await import("../records/import-run.ts");
    const { rate, concurrency, "rate-share": rateShare, "max-errors": maxErrors, verify } = flags;
    return resumeRun(context, id, { rate, rateShare, concurrency, maxErrors, verify });
  },
  render: (summary) => silent(flattenSummary(summary)),
  exitStatus: (summary) => statusOfImport(summary),
});
