import type { UndoQuestion } from "../../../import/undo/undone-run.ts";
import { table } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { exitStatus } from "../../program/exit-status.ts";
import { paceFlags } from "../records/import-flags.ts";
import { describeCounts, describeKey, describeUndone } from "./undo-format.ts";

const { rate, "rate-share": rateShare } = paceFlags;

/** The maximum number of rows in a table. */
const maxShown = 20;

export default command({
  summary: "Undo an import run as far as the API allows",
  argument: "<id>",
  examples: ["starpost imports undo 20260131-094500-3f2a1c --plan", "starpost imports undo 20260131-094500-3f2a1c"],
  flags: {
    plan: { description: "count the rows that would be reverted, without changing anything" },
    "dry-run": { description: "same as --plan" },
    rate,
    "rate-share": rateShare,
  },
  run: async (context, { arguments: [id = ""], flags }) => {
    const { maxUndoneListed, undoImport } = await import("../../../import/undo/undo.ts");
    const { describeTarget } = await import("../records/import-format.ts");
    const { withRunDeps } = await import("../records/import-run.ts");
    const isTable = context.globals.format === "table" && !context.globals.verbose;
    const target = describeTarget(await context.profile());
    return withRunDeps(
      context,
      async (deps, screen) => {
        const request = {
          isPlan: (flags.plan ?? false) || (flags["dry-run"] ?? false),
          rate: flags.rate,
          rateShare: flags["rate-share"],
          maxListed: isTable ? maxShown : maxUndoneListed,
          listsExceptions: isTable,
          confirm: async ({ import_id, ...counts }: UndoQuestion) => {
            const summary = `Undo ${import_id} (${counts.kind}) in ${target}: ${describeCounts(counts, "would")}.`;
            await screen.confirm(`${summary} Continue?`);
          },
        };
        const found = await undoImport(id, request, deps);
        screen.close();
        for (const line of describeUndone(found)) {
          if (found.state === "finished") context.messages.info(line);
          else context.messages.warn(line);
        }
        return found;
      },
      `imports undo ${id}`,
    );
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
