import { tmpdir } from "node:os";
import { findPurgeable } from "../import/run/purge.ts";
import type { Paths } from "../config/paths.ts";
import { countOf, formatBytes } from "../terminal/plural.ts";
import { type Check, ok, warning } from "./check.ts";
import { findDrafts } from "./folder-checks.ts";

/** Looks for imports that nobody has gone on with, and for what killed processes left behind. */
export async function checkLeftovers(paths: Paths, clock: () => number): Promise<Check[]> {
  const found = findPurgeable(
    { olderThanMs: 0, unfinished: true },
    { runsFolder: paths.runsFolder, temporaryFolder: tmpdir(), clock, leavesFinished: true },
  );
  const leftovers = found.removed.filter(({ state }) => state === "leftover");
  const runs = found.removed.filter(({ state }) => state !== "leftover");
  const unfinished = runs.filter(({ state }) => state !== "finished");
  const drafts = await findDrafts(paths);
  return [
    judgeRuns(
      unfinished.map(({ import_id, path }) => import_id ?? path),
      { all: runs.length, running: found.kept.running },
    ),
    judgeLeftovers(
      leftovers.map(({ path }) => path).concat(drafts),
      leftovers.reduce((sum, { bytes }) => sum + bytes, 0),
    ),
  ];
}

function judgeRuns(
  unfinished: readonly string[],
  { all, running }: { readonly all: number; readonly running: number },
): Check {
  const name = "imports";
  const total = `${countOf(all + running, "run")}${running === 0 ? "" : `, ${running} under way`}`;
  const [newest = ""] = unfinished.toSorted().toReversed();
  if (unfinished.length === 0) return ok(name, `${total}, none left unfinished`);
  const which = unfinished.length === 1 ? newest : `${newest} and ${unfinished.length - 1} more`;
  return warning(
    name,
    `${total}; not finished: ${which}`,
    `Go on with it: starpost imports resume ${newest}; or remove what is old: starpost imports purge --older-than 30d --unfinished.`,
  );
}

function judgeLeftovers(paths: readonly string[], bytes: number): Check {
  const name = "leftovers";
  if (paths.length === 0) return ok(name, "killed processes left nothing behind");
  const shown = paths.slice(0, 3).join(", ");
  const message = `killed processes left ${countOf(paths.length, "thing")} (${formatBytes(bytes)}): ${shown}${paths.length > 3 ? ", …" : ""}`;
  const isDraft = (path: string) => /\.[0-9a-f]{12}$/.test(path);
  const drafts = paths.filter(isDraft);
  const purge = drafts.length < paths.length ? ["Remove them: starpost imports purge --older-than 1d."] : [];
  const rm = drafts.length > 0 ? [`rm ${drafts.map((path) => `'${path}'`).join(" ")}`] : [];
  return warning(name, message, [...purge, ...rm].join(" "));
}
