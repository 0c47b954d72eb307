import { constants, existsSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { findPurgeable } from "../import/run/purge.ts";
import { countOf, formatBytes } from "../terminal/plural.ts";
import { type Check, type DoctorContext, ok, problem, skipped, warning } from "./check.ts";
import { findAccessError, findPartialFiles, isPartialFile } from "./folder-checks.ts";

/** Finds unfinished imports, and temporary files left behind by killed processes. */
export async function checkLeftovers({ paths, clock }: Pick<DoctorContext, "paths" | "clock">): Promise<Check[]> {
  const refusal = await findAccessError(paths.runsFolder, constants.R_OK | constants.X_OK);
  if (refusal !== undefined && existsSync(paths.runsFolder)) {
    const fix = "Check its owner and permissions, or set STARPOST_HOME to a folder of your own.";
    return [
      problem("imports", `cannot read ${paths.runsFolder}: ${refusal}`, fix),
      skipped("leftovers", "the imports cannot be read"),
    ];
  }
  const found = findPurgeable(
    { olderThanMs: 0, unfinished: true },
    { runsFolder: paths.runsFolder, temporaryFolder: tmpdir(), clock, leavesFinished: true },
  );
  const leftovers = found.removed.filter(({ state }) => state === "leftover");
  const runs = found.removed.filter(({ state }) => state !== "leftover");
  const unfinished = runs.filter(({ state }) => state !== "finished");
  const partialFiles = await findPartialFiles(paths, clock());
  return [
    checkImports(
      unfinished.map(({ import_id, path }) => import_id ?? path),
      { total: runs.length + found.kept.running, running: found.kept.running },
    ),
    checkTemporaryFiles(
      [...leftovers.map(({ path }) => path), ...partialFiles],
      [
        ...leftovers.map(({ bytes }) => bytes),
        ...partialFiles.map((path) => statSync(path, { throwIfNoEntry: false })?.size ?? 0),
      ].reduce((sum, bytes) => sum + bytes, 0),
    ),
  ];
}

function checkImports(
  unfinished: readonly string[],
  { total, running }: { readonly total: number; readonly running: number },
): Check {
  const counts = `${countOf(total, "run")}${running === 0 ? "" : `, ${running} running`}`;
  const newest = unfinished.toSorted().at(-1);
  if (newest === undefined) return ok("imports", `${counts}, none unfinished`);
  const which = unfinished.length === 1 ? newest : `${newest} and ${unfinished.length - 1} more`;
  return warning(
    "imports",
    `${counts}; unfinished: ${which}`,
    `To resume the newest, run \`starpost imports resume ${newest}\`. To delete old runs, run \`starpost imports purge --older-than 30d --unfinished\`.`,
  );
}

function checkTemporaryFiles(paths: readonly string[], bytes: number): Check {
  if (paths.length === 0) return ok("leftovers", "no files left behind by killed processes");
  const shown = `${paths.slice(0, 3).join(", ")}${paths.length > 3 ? ", …" : ""}`;
  const partialFiles = paths.filter(isPartialFile);
  const fixes = [
    ...(partialFiles.length < paths.length ? ["Run `starpost imports purge --older-than 1d`."] : []),
    ...(partialFiles.length > 0 ? [`rm ${partialFiles.map((path) => `'${path}'`).join(" ")}`] : []),
  ];
  return warning(
    "leftovers",
    `${countOf(paths.length, "file or folder", "files or folders")} (${formatBytes(bytes)}) left behind by killed processes: ${shown}`,
    fixes.join(" "),
  );
}
