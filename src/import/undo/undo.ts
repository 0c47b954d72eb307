import { rmSync } from "node:fs";
import type { Item } from "../item.ts";
import { BeforeStore } from "./previous-values.ts";
import { type OutcomeCounts, UndoStore } from "./undo-store.ts";
import {
  type CountedService,
  openCounted,
  openRecordedRun,
  type RecordedRun,
  rejectElsewhere,
  replayRun,
  type Visit,
} from "../run/recorded-run.ts";
import type { ImportDeps } from "../deps.ts";
import { readUndoRecord, type UndoRecord, writeUndoRecord } from "./undo-record.ts";
import { ListedRows, type UndoneRow, type UndoneRun, type UndoRequest, UndoRows } from "./undone-run.ts";
import type { PreviousState, Reversal, UndoBehavior } from "./undo-behavior.ts";
import { findRun, type Manifest } from "../run/run-folder.ts";
import { asImportError } from "../run/attempt.ts";
import { ServiceError } from "../../contract/index.ts";

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
  try {
    return await new RunUndo(run, request, deps).run();
  } catch (error) {
    throw asImportError(error, `to continue, run: starpost imports undo ${manifest.import_id}`);
  }
}

/** How long what was read from the service is considered current. */
const freshForMs = 5_000;

/** One attempt at undoing a run: the first, or the continuation of one that was interrupted. */
class RunUndo {
  readonly #run: RecordedRun;
  readonly #request: UndoRequest;
  readonly #deps: ImportDeps;
  readonly #undoing: UndoBehavior | undefined;
  readonly #startedMs: number;
  #service: CountedService | undefined;
  #record: UndoRecord | undefined;
  #rowsNotTaken = 0;
  /** If the undo is interrupted: what is certain. */
  #lastCounts: OutcomeCounts = { reversed: 0, kept: 0, impossible: 0 };

  constructor(run: RecordedRun, request: UndoRequest, deps: ImportDeps) {
    this.#run = run;
    this.#request = request;
    this.#deps = deps;
    this.#undoing = run.kind.undo?.(run.options);
    this.#startedMs = deps.clock();
    this.#record = readUndoRecord(deps.runsFolder, run.manifest.import_id);
  }

  async run(): Promise<UndoneRun> {
    const { paths } = this.#run;
    if (this.#record?.state === "finished") return this.#end("earlier", this.#record, []);
    const isBegun = this.#record !== undefined;
    const path = isBegun || !this.#request.isPlan ? paths.undoStore : `${paths.undoStore}-plan`;
    try {
      // First, so that nothing is written if the records cannot be read.
      await this.#openService();
      if (!isBegun) rmSync(path, { force: true });
      using store = new UndoStore(path);
      await this.#collect(store, isBegun);
      await this.#decide(store);
      if (this.#request.isPlan) return this.#end("planned", store.counts, []);
      return await this.#carryOut(store);
    } catch (error) {
      const isStopped = this.#deps.stop.aborted && (error as Error).name === "AbortError";
      if (!isStopped) throw error;
      return this.#end("interrupted", this.#lastCounts, []);
    } finally {
      await this.#service?.close();
      if (this.#request.isPlan && !isBegun) rmSync(path, { force: true });
    }
  }

  /** Collects what the run wrote; an undo that continues knows it already. */
  async #collect(store: UndoStore, isKnown: boolean): Promise<void> {
    if (isKnown) return;
    const add: Visit = (items, isSure) => {
      for (const item of items) {
        const { key, written, parts = [] } = this.#targetOf(item);
        store.add(key, written, item.rows.length, isSure);
        for (const part of parts) {
          store.add(part.key, part.written, 1, isSure);
          store.link(key, part.key);
        }
      }
    };
    await store.collect(() => this.#replay(add));
  }

  async #decide(store: UndoStore): Promise<void> {
    const { manifest, paths } = this.#run;
    using before = BeforeStore.find(paths.before);
    const undoing = this.#undoing;
    const past = describePrevious(manifest, undoing, before);
    const isUseful = past.whyNot === undefined || undoing?.needsPrevious === false;
    const { done, unknown } = this.#run.settled;
    const mayHold = done.size + unknown.size > 0;
    if (isUseful && mayHold) await this.#readCurrent(store, past);
    store.decide((thing) =>
      undoing ? undoing.decide(thing, past) : { outcome: "impossible", reason: `the API cannot undo ${manifest.kind}` },
    );
    this.#lastCounts = store.settled;
  }

  async #readCurrent(store: UndoStore, past: PreviousState): Promise<void> {
    const undoing = this.#undoing;
    if (!undoing?.now) return;
    const service = await this.#openService();
    const found = undoing.now(service.service, service.reading, past);
    let records = 0;
    await store.storeCurrent(async (add) => {
      for await (const entries of found) {
        add(entries);
        records += entries.length;
        this.#deps.report({ type: "readBack", records, calls: service.calls() });
      }
    }, undoing.isInParts);
  }

  async #carryOut(store: UndoStore): Promise<UndoneRun> {
    const { import_id, kind } = this.#run.manifest;
    if (store.open > 0) {
      const askedMs = this.#deps.clock();
      await this.#request.confirm({ import_id, kind, ...store.counts });
      // The prompt may take a while; changes made meanwhile must not be overwritten.
      if (this.#deps.clock() - askedMs > freshForMs) await this.#decide(store);
      await this.#keep("running", store.counts);
      await this.#send(store);
      this.#lastCounts = store.settled;
    }
    if (this.#deps.stop.aborted) return this.#end("interrupted", store.settled, []);
    const rows = await this.#writeRows(store);
    const ended = store.counts;
    if (this.#record) await this.#keep("finished", ended);
    return this.#end("finished", ended, rows);
  }

  async #send(store: UndoStore): Promise<void> {
    const undoing = this.#undoing;
    if (!undoing) return;
    const service = await this.#openService();
    while (!this.#deps.stop.aborted) {
      const things = store.takeNext(undoing.itemsACall);
      if (things.length === 0) return;
      store.settle(things, await sendReversals(undoing, service, things));
    }
  }

  async #writeRows(store: UndoStore): Promise<UndoneRow[]> {
    const file = new UndoRows(this.#run.paths.undoRows);
    const listed = new ListedRows(this.#request);
    let isWhole = false;
    try {
      await this.#replay((items) => {
        for (const item of items) {
          const { key: target, parts } = this.#targetOf(item);
          const key = this.#run.behavior.nameOf?.(item) ?? item.key;
          for (const [index, { file: at, line }] of item.rows.entries()) {
            const { outcome, reason } = store.outcomeOf(target, parts?.[index]?.key);
            const row = { file: this.#run.files[at]?.given ?? "", line, key, outcome, reason };
            file.add(row);
            listed.add(row);
          }
        }
      });
      isWhole = true;
    } finally {
      file.close(isWhole);
    }
    return listed.rows;
  }

  async #replay(visit: Visit): Promise<void> {
    let taken = 0;
    const count: Visit = (items, isSure) => {
      for (const item of items) taken += item.rows.length;
      visit(items, isSure);
    };
    const { rows } = await replayRun(this.#run, count, this.#deps, { isAsSent: true });
    this.#rowsNotTaken = rows.read - taken;
  }

  #targetOf(item: Item): ReturnType<UndoBehavior["targetOf"]> {
    return this.#undoing?.targetOf(item) ?? { key: item.key, written: {} };
  }

  async #openService(): Promise<CountedService> {
    this.#service ??= await openCounted(this.#request, this.#deps);
    return this.#service;
  }

  async #keep(state: UndoRecord["state"], counts: OutcomeCounts): Promise<void> {
    const now = new Date(this.#deps.clock()).toISOString();
    this.#record = {
      state,
      started_at: this.#record?.started_at ?? now,
      finished_at: state === "finished" ? now : null,
      ...pickCounts(counts),
    };
    await writeUndoRecord(this.#deps.runsFolder, this.#run.manifest.import_id, this.#record);
  }

  #end(state: UndoneRun["state"], counts: OutcomeCounts, rows: UndoneRow[]): UndoneRun {
    const { import_id, kind } = this.#run.manifest;
    return {
      import_id,
      kind,
      state,
      ...pickCounts(counts),
      rows,
      rows_file: state === "finished" || state === "earlier" ? this.#run.paths.undoRows : null,
      rows_not_taken: this.#rowsNotTaken,
      calls: this.#service?.calls() ?? 0,
      duration_ms: this.#deps.clock() - this.#startedMs,
    };
  }
}

function pickCounts({ reversed, kept, impossible }: OutcomeCounts): OutcomeCounts {
  return { reversed, kept, impossible };
}

/** What a run recorded about the service before it changed anything. */
function describePrevious(
  { kind, options, started_at }: Manifest,
  undo: UndoBehavior | undefined,
  before: BeforeStore | undefined,
): PreviousState {
  const lacksUndoable = undo?.previous?.isOnRequest && !options.undoable;
  const whyNot = lacksUndoable
    ? `the previous state was not recorded; to record it, pass --undoable to \`${kind} import\``
    : before?.ended
      ? before.ended.whyNot
      : "it was not recorded when the run began";
  return { whyNot, get: (key) => before?.get(key), startedMs: Date.parse(started_at) };
}

/** If the service rejects a call, its targets are sent in smaller calls; a target that is rejected alone is not undone. */
async function sendReversals(
  undoing: UndoBehavior,
  counted: CountedService,
  things: readonly Reversal[],
): Promise<ReadonlyMap<string, string>> {
  try {
    return await undoing.send(counted.service, things, counted.writing);
  } catch (error) {
    const isOfData =
      error instanceof ServiceError && ["invalidParams", "bodyTooLarge", "malformedBody"].includes(error.kind);
    if (!isOfData) throw error;
    if (things.length <= 1) return new Map(things.map(({ key }) => [key, error.message]));
    const half = Math.ceil(things.length / 2);
    const first = await sendReversals(undoing, counted, things.slice(0, half));
    return new Map([...first, ...(await sendReversals(undoing, counted, things.slice(half)))]);
  }
}
