import { ServiceError } from "../../contract/index.ts";
import { isDiskFull } from "../run/attempt.ts";
import { findRun, type Manifest } from "../run/run-folder.ts";
import { openRecordedRun, refuseElsewhere } from "../run/recorded-run.ts";
import { ImportError } from "../import-error.ts";
import type { ImportDeps } from "../deps.ts";
import { RunUndo } from "./run-undo.ts";
import type { UndoneRun, UndoRequest } from "./undone-run.ts";

/** Rows that scripts are given one by one; the file has them all. */
export const mostUndoneListed = 1_000;

/**
 * Takes back what a run did, as far as the API can, and tells row by row what came of it. One that was cut off goes on.
 * @throws ImportError `usage` as for a resume, else by what failed; what was taken back by then is kept
 */
export async function undoImport(id: string, request: UndoRequest, deps: ImportDeps): Promise<UndoneRun> {
  const manifest = findRun(deps.runsFolder, id);
  refuseElsewhere(manifest, deps.target);
  using run = await openRecordedRun(manifest, deps);
  const undo = new RunUndo(run, request, deps);
  try {
    return await undo.run();
  } catch (error) {
    throw asUndoError(error, manifest);
  }
}

/** What the person is told of an undo that could not go on; a bug stays a bug. */
function asUndoError(error: unknown, { import_id }: Manifest): unknown {
  const hint = `starpost imports undo ${import_id} goes on from here`;
  if (isDiskFull(error)) {
    return new ImportError("failed", "the disk is full", { hint: `make room; then ${hint}`, cause: error });
  }
  if (!(error instanceof ServiceError)) return error;
  const isAuth = ["unauthorized", "invalidClient", "recordNotFound"].includes(error.kind);
  const kind = isAuth ? "auth" : error.temporary ? "temporary" : "failed";
  return new ImportError(kind, error.message, {
    hint: error.hint === undefined ? hint : `${error.hint}; then ${hint}`,
    cause: error,
  });
}
