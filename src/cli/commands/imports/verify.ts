import { table } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { exitStatus } from "../../program/exit-status.ts";
import { paceFlags } from "../records/import-flags.ts";

const { rate, "rate-share": rateShare } = paceFlags;

/** The maximum number of rows in a table. */
const maxShown = 20;

export default command({
  summary: "Compare the accepted rows of an import with the service, and list differences",
  argument: "<id>",
  examples: [
    "starpost imports verify 20260131-094500-3f2a1c",
    "starpost imports verify 20260131 --missing missing.csv",
  ],
  flags: {
    missing: { value: "<file>", description: "write the missing or different rows to this file", isOutput: true },
    rate,
    "rate-share": rateShare,
  },
  run: async (context, { arguments: [id = ""], flags }) => {
    const { maxMissingListed, verifyImport } = await import("../../../import/verify/verify.ts");
    const { withRunDeps } = await import("../records/import-run.ts");
    const { describeVerification } = await import("../records/import-format.ts");
    const { missing, rate: callsPerSecond, "rate-share": share } = flags;
    const maxListed = context.globals.format === "table" ? maxShown : maxMissingListed;
    return withRunDeps(
      context,
      async (deps, screen) => {
        const request = { missing, rate: callsPerSecond, rateShare: share, maxListed };
        const found = await verifyImport(id, request, deps);
        screen.close();
        const message = describeVerification(found);
        const isDifferent = found.missing_count + found.different_count > 0;
        if (isDifferent || found.state === "interrupted") context.messages.warn(message);
        else context.messages.info(message);
        return found;
      },
      `imports verify ${id}`,
    );
  },
  render: ({ missing, different }) => {
    const rows = [...missing, ...different.map(({ expected: _sent, stored: _held, ...row }) => row)];
    return table(rows, Object.keys(rows[0] ?? {}));
  },
  exitStatus: ({ state, missing_count: missing, different_count: different }) => {
    if (state === "interrupted") return exitStatus.interrupted;
    return missing + different > 0 ? exitStatus.notThere : exitStatus.done;
  },
});
