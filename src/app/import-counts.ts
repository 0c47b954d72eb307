import { join } from "node:path";
import { isHeld } from "../import/run/run-folder.ts";
import { listRunHeads } from "../import/run/run-headers.ts";
import { runStates } from "../import/summary.ts";
import type { ImportCounts } from "../server/metrics.ts";

/** The number of imports that are counted, so that reading them takes a few milliseconds. */
const maxImports = 100;

/** Counts the newest imports that are recorded on this machine, by state. */
export function countImports(runsFolder: string): ImportCounts {
  const states = new Map<string, number>(runStates.map((state) => [state, 0]));
  const finished: number[] = [];
  for (const { id, state: recorded, startedAt } of listRunHeads(runsFolder, "", maxImports)) {
    const state = recorded === "running" && !isHeld(join(runsFolder, id)) ? "interrupted" : recorded;
    states.set(state, (states.get(state) ?? 0) + 1);
    if (state === "finished") finished.push(Date.parse(startedAt));
  }
  return { states, lastFinishedMs: finished.length === 0 ? undefined : Math.max(...finished) };
}
