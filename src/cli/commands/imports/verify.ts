import { table } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { exitStatus } from "../../program/exit-status.ts";
import { readText } from "../../program/flag-values.ts";
import { paceFlags } from "../records/import-flags.ts";

const { rate, "rate-share": rateShare } = paceFlags;

export const importsVerify = command({
  name: "imports verify",
  summary: "Compare the accepted rows of an import with the service, and list differences",
  argument: "<id>",
  examples: [
    "starpost imports verify 20260131-094500-3f2a1c",
    "starpost imports verify 20260131 --missing missing.csv",
  ],
  flags: {
    missing: {
      value: "<file>",
      description: "write the missing or different rows to this file",
      read: readText,
    },
    rate,
    "rate-share": rateShare,
  },
  run: async (context, { arguments: [id = ""], flags }) => {
    const { verifyRun } = await import("./verify-run.ts");
    return verifyRun(context, id, {
      missing: flags.missing,
      rate: flags.rate,
      rateShare: flags["rate-share"],
    });
  },
  render: ({ missing }) => table(missing, Object.keys(missing[0] ?? {})),
  exitStatus: ({ state, missing_count: count }) => {
    if (state === "interrupted") return exitStatus.interrupted;
    return count > 0 ? exitStatus.notThere : exitStatus.done;
  },
});
