import { failedError } from "../../../../config/user-error.ts";
import { fields } from "../../../../terminal/view.ts";
import { command } from "../../../program/command.ts";
import { type ExitStatus, exitStatus } from "../../../program/exit-status.ts";

const ownStatuses: Readonly<Record<string, ExitStatus>> = {
  published: exitStatus.done,
  unreachable: exitStatus.temporary,
};

export default command({
  summary: "Compare the key that signs emails (DKIM) with DNS",
  database: "optional",
  examples: ["starpost mail dkim check", "starpost mail dkim check --json"],
  notes: [
    "The exit status is 0 if DNS has the key, 1 if its record is missing or different, or if the sender has another domain, " +
      "and 5 if DNS cannot be reached.",
  ],
  run: async (context) => {
    const { findLocalProfile } = await import("../../serve/server-run.ts");
    await findLocalProfile(context, "has mail settings on this machine");
    const { checkDkim } = await context.io.loadApp();
    const found = await checkDkim(await context.host());
    if (!found) throw failedError("there is no DKIM key", "To create one, run `starpost mail dkim create`.");
    return found;
  },
  render: ({ problem, ...found }) => fields({ ...found, ...(problem !== null && { problem }) }),
  problem: ({ problem }) => problem,
  exitStatus: ({ state }) => ownStatuses[state] ?? exitStatus.failed,
});
