import type { BeforeStore } from "./previous-values.ts";
import type { Manifest } from "../run/run-folder.ts";
import type { PreviousState, UndoBehavior } from "./undo-behavior.ts";

/** What a run recorded about the service before it changed anything. */
export function describePrevious(
  manifest: Manifest,
  undo: UndoBehavior | undefined,
  before: BeforeStore | undefined,
): PreviousState {
  return {
    whyNot: undo?.whyUnknown?.(manifest.options) ?? whyUnknown(before),
    get: (key) => before?.get(key),
    startedMs: Date.parse(manifest.started_at),
  };
}

function whyUnknown(before: BeforeStore | undefined): string | undefined {
  const ended = before?.ended;
  return ended ? ended.whyNot : "it was not recorded when the run began";
}
