import type { BeforeStore } from "./previous-values.ts";
import type { Manifest } from "../run/run-folder.ts";
import type { Past } from "./undo-kind.ts";

/** What a run kept of the service as it was before it. */
export function createPast(manifest: Manifest, before: BeforeStore | undefined): Past {
  return {
    whyNot: whyNot(manifest, before),
    get: (key) => before?.get(key),
    startedMs: Date.parse(manifest.started_at),
  };
}

/** Why it is not known what was there before the run; nothing where it is. */
function whyNot({ kind, options }: Manifest, before: BeforeStore | undefined): string | undefined {
  if (kind === "products" && options.undoable !== true) {
    return "its former values were not kept: that is done by `products import --undoable`";
  }
  const ended = before?.ended;
  return ended ? ended.whyNot : "it was not kept when the run began";
}
