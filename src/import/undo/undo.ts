import { ServiceError } from "../../contract/index.ts";
import { isDiskFull } from "../run/attempt.ts";
import { findRun, type Manifest } from "../run/run-folder.ts";
import { openRecordedRun, rejectElsewhere } from "../run/recorded-run.ts";
import { ImportError } from "../import-error.ts";
import type { ImportDeps } from "../deps.ts";
import { RunUndo } from "./run-undo.ts";
import type { UndoneRun, UndoRequest } from "./undone-run.ts";

/** The maximum number of rows in JSON output; the file has all of them. */
export const maxUndoneListed = 1_000;

/**
 * Undoes a run as far as the API allows and reports the outcome for each row. An interrupted undo is continued.
 * @throws ImportError `usage` as for a resume, or by the cause of the failure; what has been undone by then stays
 * undone
 */
export async function undoImport(id: string, request: UndoRequest, deps: ImportDeps): Promise<UndoneRun> {
  const manifest = findRun(deps.runsFolder, id);
  rejectElsewhere(manifest, deps.target);
  using run = await openRecordedRun(manifest, deps);
  const undo = new RunUndo(run, request, deps);
  try {
    return await undo.run();
  } catch (error) {
    throw asUndoError(error, manifest);
  }
}

/** Converts the failure of an undo to the error that a person sees; bugs stay as they are. */
function asUndoError(error: unknown, { import_id }: Manifest): unknown {
  const hint = `to continue, run: starpost imports undo ${import_id}`;
  if (isDiskFull(error)) {
    return new ImportError("failed", "the disk is full", {
      hint: `free up disk space; ${hint}`,
      cause: error,
    });
  }
  if (!(error instanceof ServiceError)) return error;
  const isAuth = ["unauthorized", "invalidClient", "recordNotFound"].includes(error.kind);
  const kind = isAuth ? "auth" : error.temporary ? "temporary" : "failed";
  return new ImportError(kind, error.message, {
    hint: error.hint === undefined ? hint : `${error.hint}; ${hint}`,
    cause: error,
  });
}
