import { table } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { exitStatus } from "../../program/exit-status.ts";
import { paceFlags } from "../records/import-flags.ts";
import { describeKey } from "./undo-format.ts";

const { rate, "rate-share": rateShare } = paceFlags;

export const importsUndo = command({
  name: "imports undo",
  summary: "Undo an import run as far as the API allows",
  argument: "<id>",
  examples: [
    "starpost imports undo 20260131-094500-3f2a1c --plan",
    "starpost imports undo 20260131-094500-3f2a1c",
  ],
  flags: {
    plan: { description: "count the rows that would be reverted, without changing anything" },
    "dry-run": { description: "same as --plan" },
    rate,
    "rate-share": rateShare,
  },
  run: async (context, { arguments: [id = ""], flags }) => {
    const { undoRun } = await import("./undo-run.ts");
    return undoRun(context, id, {
      isPlan: (flags.plan ?? false) || (flags["dry-run"] ?? false),
      rate: flags.rate,
      rateShare: flags["rate-share"],
    });
  },
  render: ({ kind, rows }) =>
    table(
      rows.map((row) => ({ ...row, key: describeKey(kind, row.key) })),
      ["file", "line", "key", "outcome", "reason"],
    ),
  exitStatus: ({ state, impossible }) => {
    if (state === "interrupted") return exitStatus.interrupted;
    return impossible > 0 ? exitStatus.someRejected : exitStatus.done;
  },
});
