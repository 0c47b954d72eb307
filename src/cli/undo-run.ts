import type { UndoneRun, UndoRequest } from "../importer/undo/undone-run.ts";
import { mostUndoneListed, undoImport } from "../importer/undo.ts";
import type { Context } from "./context.ts";
import { withRunDeps } from "./import-run.ts";
import { describeTarget } from "./import-words.ts";
import { describeCounts, describeUndone } from "./undo-words.ts";

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
      if (found.state === "finished") context.talk.say(line);
      else context.talk.notice(line);
    }
    return found;
  });
}
