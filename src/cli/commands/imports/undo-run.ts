import type { UndoneRun, UndoRequest } from "../../../import/undo/undone-run.ts";
import { mostUndoneListed, undoImport } from "../../../import/undo/undo.ts";
import type { Context } from "../../program/context.ts";
import { withRunDeps } from "../records/import-run.ts";
import { describeTarget } from "../records/import-format.ts";
import { describeCounts, describeUndone } from "./undo-format.ts";

/** Rows on a person's screen. */
const mostShown = 20;

/** Takes back what a run did, once the person has agreed, and tells what came of it. */
export async function undoRun(
  context: Context,
  id: string,
  request: Pick<UndoRequest, "isPlan" | "rate" | "rateShare">,
): Promise<UndoneRun> {
  const isForScreen = context.globals.format === "table" && !context.globals.verbose;
  const target = describeTarget(await context.profile());
  return withRunDeps(context, async (deps, screen) => {
    const found = await undoImport(
      id,
      {
        ...request,
        mostListed: isForScreen ? mostShown : mostUndoneListed,
        listsExceptions: isForScreen,
        confirm: async ({ import_id, kind, ...counts }) => {
          const what = `Undo ${import_id} (${kind}) in ${target}: ${describeCounts({ kind, ...counts }, "would")}.`;
          await screen.confirm(`${what} Go on?`);
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
