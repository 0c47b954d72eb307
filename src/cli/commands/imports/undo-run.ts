import type { UndoneRun, UndoRequest } from "../../../import/undo/undone-run.ts";
import { maxUndoneListed, undoImport } from "../../../import/undo/undo.ts";
import type { Context } from "../../program/context.ts";
import { withRunDeps } from "../records/import-run.ts";
import { describeTarget } from "../records/import-format.ts";
import { describeCounts, describeUndone } from "./undo-format.ts";

/** The maximum number of rows in a table. */
const maxShown = 20;

/** Undoes a run after a confirmation, and prints the result. */
export async function undoRun(
  context: Context,
  id: string,
  request: Pick<UndoRequest, "isPlan" | "rate" | "rateShare">,
): Promise<UndoneRun> {
  const isTable = context.globals.format === "table" && !context.globals.verbose;
  const target = describeTarget(await context.profile());
  return withRunDeps(context, async (deps, screen) => {
    const found = await undoImport(
      id,
      {
        ...request,
        maxListed: isTable ? maxShown : maxUndoneListed,
        listsExceptions: isTable,
        confirm: async ({ import_id, kind, ...counts }) => {
          const summary = `Undo ${import_id} (${kind}) in ${target}: ${describeCounts({ kind, ...counts }, "would")}.`;
          await screen.confirm(`${summary} Continue?`);
        },
      },
      deps,
    );
    screen.close();
    for (const line of describeUndone(found)) {
      if (found.state === "finished") context.messages.info(line);
      else context.messages.warn(line);
    }
    return found;
  });
}
