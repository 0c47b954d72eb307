import type { Service } from "../../service/service.ts";
import type { CallOptions } from "../../service/transport.ts";
import { BeforeStore, noteKey } from "./previous-values.ts";
import type { Settled } from "../run/journal.ts";
import { readItems, type RunFiles } from "../run/run-reader.ts";
import type { ImportDeps } from "../deps.ts";
import type { Item } from "../item.ts";
import type { ImportKind } from "../kinds.ts";
import { isRefusal, type UndoBehavior } from "./undo-behavior.ts";

/** A run that is about to begin. */
export interface BeginningRun extends RunFiles {
  readonly kind: ImportKind;
  /** The file for the recorded state. */
  readonly path: string;
  readonly settled: Settled;
}

/**
 * Records the service's state before a run changes it, as far as undoing the run needs it, unless something has been sent.
 * If the service refuses to return the state, the run continues and records the refusal.
 * @returns what an undo cannot restore, as a message
 * @throws ServiceError if the service does not answer or the credentials are rejected; the run would fail too
 */
export async function recordPrevious(
  run: BeginningRun,
  service: Service,
  deps: ImportDeps,
): Promise<string | undefined> {
  const undo = run.kind.undo?.(run.options);
  if (!undo?.previous || (undo.previous.isOnRequest && !run.options.undoable)) return undefined;
  using store = new BeforeStore(run.path);
  if (run.settled.extents.size === 0 && !store.ended) await fill(store, undo, run, service, deps);
  const { whyNot } = store.ended ?? {};
  if (whyNot !== undefined) {
    return `the previous values could not be saved, so \`imports undo\` cannot restore them: ${whyNot}`;
  }
  const limits = undo.previous.describeLimits?.(store.get(noteKey) ?? {});
  return limits && `\`imports undo\` cannot restore ${limits}`;
}

async function fill(
  store: BeforeStore,
  undo: UndoBehavior,
  run: BeginningRun,
  service: Service,
  deps: ImportDeps,
): Promise<void> {
  const { previous, isInParts = false } = undo;
  if (!previous) return;
  const isChosen = previous.isOnlyWritten ?? false;
  const keysOf = (item: Item) => {
    const { key, parts = [] } = undo.targetOf(item);
    return [key, ...parts.map((part) => part.key)];
  };
  if (isChosen) await readItems(run, (items) => store.want(items.flatMap(keysOf)), deps);
  try {
    await store.fill(async () => {
      let records = 0;
      let calls = 0;
      const onEvent: CallOptions["onEvent"] = (event) => {
        if (event.type === "wait") deps.report({ type: "wait", message: event.message, ms: event.ms });
      };
      for await (const entries of previous.read(service, { signal: deps.abort, onEvent })) {
        store.add(entries, { isChosen, isInParts });
        records += entries.length;
        deps.report({ type: "readBack", records, calls: ++calls });
        deps.stop.throwIfAborted();
      }
    });
  } catch (error) {
    // The run handles the signal itself.
    if (deps.stop.aborted && !deps.abort.aborted) return;
    if (!isRefusal(error)) throw error;
    store.giveUp(error.message);
  }
}
