import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { credentialErrors, endpointOf, ServiceError } from "../../contract/index.ts";
import type { Service } from "../../service/service.ts";
import { DiskMap } from "../../storage/sqlite/disk-map.ts";
import { RunTally, type TallyFile } from "./tally.ts";
import { workFolderPrefix } from "../csv/rows-on-disk.ts";
import { unitOf } from "../csv/file-format.ts";
import type { InputFile } from "../source/input-files.ts";
import type { ImportBehavior, ItemPreparation, PreparedAttempt } from "../kind.ts";
import type { ImportKind } from "../kinds.ts";
import { FixedIdFile } from "./fixed-id-file.ts";
import { Journal, readEntries, settle, type Totals } from "./journal.ts";
import { KeyStore } from "./key-store.ts";
import { keepFiles } from "./kept-files.ts";
import { Heartbeat } from "./heartbeat.ts";
import { RejectFile, type GroupedInput } from "./reject-file.ts";
import { lockRun, noTotals, runPaths, summarizeRun, writeManifest, type Manifest } from "./run-folder.ts";
import { placeRows } from "./reject-copy.ts";
import { readAll, readItems, type ReadingDeps, type RunFiles } from "./run-reader.ts";
import { callSizeOf } from "../send/chunks.ts";
import { createDrySender, JournaledSender, type SendingDeps } from "../send/sender.ts";
import { ImportError } from "../import-error.ts";
import type { ImportDeps } from "../deps.ts";
import type { ImportEvent } from "../events.ts";
import type { Item } from "../item.ts";
import type { ImportOptions } from "../options.ts";
import type { ImportSummary, RunState } from "../summary.ts";
import { recordPrevious } from "../undo/record-previous.ts";

/** One attempt at a run: the first, or a resume. Without a manifest, it is a dry run. */
export interface Attempt extends RunFiles {
  readonly kind: ImportKind;
  readonly manifest?: Manifest;
}

/** Runs an attempt to its end and returns the summary of the entire run. */
export async function runAttempt(attempt: Attempt, deps: ImportDeps): Promise<ImportSummary> {
  const { manifest } = attempt;
  return manifest ? runRecorded({ ...attempt, manifest }, deps) : runDry(attempt, deps);
}

async function runDry(attempt: Attempt, deps: ImportDeps): Promise<ImportSummary> {
  const startedMs = deps.clock();
  using keys = attempt.behavior.existing && new KeyStore(join(attempt.folder, "keys.db"));
  const given = attempt.files.map((file) => file.given);
  using fixedIds = new FixedIdFile(join(attempt.folder, "fixed-ids.db"), undefined, given);
  const tally = new RunTally(attempt.files.map(asTallyFile), undefined, fixedIds, attempt.kind.rejectCodes);
  using preparation = await prepareItems({ ...attempt, isFirst: true }, undefined, deps);
  const state = await readAll({ ...attempt, preparation }, tally, keys, createDrySender(tally), deps);
  for (const notice of tally.notices(attempt.kind.itemName)) deps.report(notice);
  for (const message of preparation?.notices() ?? []) deps.report({ type: "notice", message });
  const run = { kind: attempt.kind.name, files: given, startedMs };
  return summarizeUnrecorded(run, state, tally.totals, deps.clock() - startedMs);
}

/** The summary of a dry run, or of an import that was interrupted before anything was sent or recorded. */
export function summarizeUnrecorded(
  { kind, files, startedMs }: { readonly kind: string; readonly files: readonly string[]; readonly startedMs: number },
  state: RunState,
  totals: Totals = noTotals,
  duration_ms = 0,
): ImportSummary {
  const started_at = new Date(startedMs).toISOString();
  const counts = structuredClone(totals);
  return { import_id: null, kind, files: [...files], state, ...counts, started_at, duration_ms, rejects_file: null };
}

async function runRecorded(
  attempt: Attempt & { readonly manifest: Manifest },
  deps: ImportDeps,
): Promise<ImportSummary> {
  const { behavior, files, options } = attempt;
  const id = attempt.manifest.import_id;
  const paths = runPaths(deps.runsFolder, id);
  using _ = lockRun(deps.runsFolder, id);
  removeWorkFolders(paths.folder);
  await writeManifest(deps.runsFolder, attempt.manifest);
  const settled = settle(readEntries(paths.journal));
  const journal = new Journal(paths.journal, deps.clock);
  const heartbeat = new Heartbeat(journal, deps.clock);
  journal.append({ t: "start", at: deps.clock() });
  if (!deps.observer) deps.report({ type: "begun", importId: id });
  using keys = behavior.existing && new KeyStore(paths.keys);
  const inputs = files.map((file) => asRejectedInput(file, options));
  const rejects = new RejectFile(paths.rejects, inputs, options);
  const given = files.map((file) => file.given);
  // An observer does not keep the run.
  const fixedIdsPath = deps.observer ? undefined : paths.fixedIds;
  using fixedIds = new FixedIdFile(paths.fixedIdStore, fixedIdsPath, given);
  const tally = new RunTally(files.map(asTallyFile), rejects, fixedIds, attempt.kind.rejectCodes);
  deps.observer?.tally(tally);
  Object.assign(tally.calls, settled.calls);
  let state: RunState = "failed";
  let failure: unknown;
  let closing: Promise<unknown> = Promise.resolve();
  const keeping = new FileKeeping(attempt.manifest, paths.folder, deps);
  const notices: string[] = [];
  try {
    ({ state, closing } = await withSender(attempt, { tally, journal, heartbeat, settled, keys, notices }, deps));
  } catch (error) {
    failure = error;
    state = (error instanceof ServiceError && error.temporary) || deps.abort.aborted ? "interrupted" : "failed";
  }
  await keeping.end(state, deps);
  const manifest: { -readonly [K in keyof Manifest]: Manifest[K] } = { ...attempt.manifest, state };
  // A resume that ended before it caught up with the run knows less than the run does.
  const { isBehind, totals } = latestTotals(tally.totals, settled.totals);
  try {
    heartbeat.flush();
    journal.append({ t: "totals", at: deps.clock(), totals });
    await journal.close();
    rejects.close(!isBehind);
    fixedIds.close(!isBehind);
  } catch (error) {
    manifest.state = "failed";
    failure ??= error;
  }
  const note = (error: unknown) => void (failure ??= error);
  manifest.rejects_file = await placeRows(rejects.written, options.rejects, deps).catch((error: unknown) => {
    note(error);
    return manifest.rejects_file;
  });
  const events = listNotices(attempt, tally, notices);
  for (const event of events) deps.report(event);
  if (!isBehind) Object.assign(manifest, keptNotices(events, fixedIds));
  await writeManifest(deps.runsFolder, manifest).catch(note);
  const summary = summarizeRun(deps.runsFolder, manifest);
  const isComplete = failure === undefined && state === "finished";
  failure ??= await closing;
  const isAborted = deps.abort.aborted && (failure as Error | undefined)?.name === "AbortError";
  const next = isComplete ? `${id} is complete` : `to continue, run: starpost imports resume ${id}`;
  if (failure !== undefined && !isAborted) throw asImportError(failure, next, summary);
  return summary;
}

/** Keeps copies of the files of a run, while it sends their rows. */
class FileKeeping {
  readonly #abort = new AbortController();
  readonly #kept: Promise<unknown>;

  /** An observed run is not kept. */
  constructor(manifest: Manifest, folder: string, { observer }: Pick<ImportDeps, "observer">) {
    this.#kept = observer
      ? Promise.resolve()
      : keepFiles(manifest, folder, this.#abort.signal).catch((error: unknown) => error);
  }

  /** Waits for the copies. An interrupted run does not: what a resume needs is still in its place. */
  async end(state: RunState, { abort, report }: Pick<ImportDeps, "abort" | "report">): Promise<void> {
    if (!["finished", "stopped"].includes(state) || abort.aborted) this.#abort.abort();
    const error = await this.#kept;
    if (error === undefined || this.#abort.signal.aborted) return;
    const why = isDiskFull(error) ? "the disk is full" : (error as Error).message;
    const message = `the files were not copied (${why}), so the import can be verified and undone only while they exist`;
    report({ type: "notice", message });
  }
}

function latestTotals(now: Totals, before: Totals | undefined) {
  const isBehind = before !== undefined && before.rows.read > now.rows.read;
  return { totals: isBehind ? before : now, isBehind };
}

/** The notices for the report of a run, which lists rewritten IDs itself. */
function keptNotices(events: readonly ImportEvent[], fixedIds: FixedIdFile): Pick<Manifest, "notices"> {
  const messages = events.flatMap((event) => (event.type === "notice" ? [event.message] : []));
  const kept = messages.filter((message) => message !== fixedIds.describe());
  return kept.length > 0 ? { notices: kept } : {};
}

/** What is reported at the end of an attempt. */
function listNotices({ kind, behavior }: Attempt, tally: RunTally, notices: readonly string[]): ImportEvent[] {
  const messages = [...notices, ...(behavior.notices?.() ?? [])];
  return [...tally.notices(kind.itemName), ...messages.map((message) => ({ type: "notice" as const, message }))];
}

export function removeWorkFolders(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (name.startsWith(workFolderPrefix)) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

interface Records extends Pick<SendingDeps, "tally" | "journal" | "heartbeat" | "settled" | "keys"> {
  /** Messages for the end of the run. */
  readonly notices: string[];
}

/** @param service undefined if nothing is sent */
export function prepareItems(
  run: RunFiles & Pick<PreparedAttempt, "isFirst">,
  service: Service | undefined,
  deps: ReadingDeps & Pick<ImportDeps, "confirm">,
): Promise<ItemPreparation | undefined> | undefined {
  const { options, folder, isFirst, files } = run;
  return run.behavior.prepareItems?.({
    folder,
    options,
    service,
    isFirst,
    withoutUrl: files.map(({ columns }) => columns.withoutUrl).find((error) => error !== undefined),
    callOptions: { signal: deps.abort },
    report: deps.report,
    confirm: deps.confirm ?? (async (message) => deps.report({ type: "notice", message })),
    readItems: (visit) => readItems(run, visit, deps),
  });
}

/**
 * Sends all rows.
 * @returns the final state, and the end of closing the connection, which is not waited for: its failure, if any
 */
async function withSender(
  attempt: Attempt,
  records: Records,
  deps: ImportDeps,
): Promise<{ readonly state: RunState; readonly closing: Promise<unknown> }> {
  const { behavior, options } = attempt;
  const opened = await deps.openService({
    rate: options.rate,
    rateShare: options.rateShare,
    importId: attempt.manifest?.import_id,
  });
  try {
    if (records.keys) await loadExisting(behavior, records.keys, opened.service, deps);
    if (records.keys) await meetItems(attempt, records.keys, deps);
    const path = join(attempt.folder, "before.db");
    const limits = await recordPrevious({ ...attempt, path, settled: records.settled }, opened.service, deps);
    if (limits !== undefined) records.notices.push(limits);
    using preparation = await prepareItems(
      { ...attempt, isFirst: records.settled.extents.size === 0 },
      opened.service,
      deps,
    );
    // Paced calls wait anyway, and those in flight are unsettled if the run is killed.
    const isPaced = opened.ratePerSecond !== undefined;
    const isSingle = callSizeOf(behavior).recommended === undefined && !isPaced;
    const sender = new JournaledSender({
      ...records,
      behavior,
      service: opened.service,
      concurrency: options.concurrency ?? (isSingle ? opened.singleConcurrency : undefined) ?? opened.concurrency,
      keepsOrder: opened.keepsOrder,
      isOnce: endpointOf(behavior.operation).effect === "once",
      // A rehearsal does not need keys, and its ID belongs to no run.
      runId: deps.observer ? undefined : attempt.manifest?.import_id,
      clock: deps.clock,
      abort: deps.abort,
      report: deps.report,
    });
    try {
      const state = await readAll({ ...attempt, preparation }, records.tally, records.keys, sender, deps);
      return { state, closing: opened.close().catch((error: unknown) => error) };
    } finally {
      await sender.drain();
      records.notices.push(...(preparation?.notices() ?? []));
    }
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/**
 * Loads what the service held before the run began, so that a resume can distinguish this run's writes from others'. A
 * resume also loads what the service holds now, if it would store the same record twice.
 */
async function loadExisting(
  behavior: ImportBehavior,
  keys: KeyStore,
  service: Service,
  deps: ImportDeps,
): Promise<void> {
  if (!behavior.existing || (keys.isLoaded && !behavior.numberDouble)) return;
  const found = behavior.existing(service, { signal: deps.abort });
  await (keys.isLoaded ? keys.loadHeld(found) : keys.load(found, deps.clock()));
}

/** Reads all files once, so that an item that repeats a stored record is not taken for a later version of another. */
async function meetItems(attempt: Attempt, keys: KeyStore, deps: ImportDeps): Promise<void> {
  if (!keys.hasVersions) return;
  const { kind, options, folder } = attempt;
  // Another behavior, since one counts what it reads.
  const behavior = kind.prepare(options);
  using counted = new DiskMap<number>(join(folder, "met"));
  const count = (name: string) => {
    const times = (counted.get(name) ?? 0) + 1;
    counted.set(name, times);
    return times;
  };
  const meet = (item: Item) => {
    const numbered = behavior.numberDouble?.(item, count);
    if (numbered) keys.meet({ ...numbered.item, doubleKeys: numbered.keys });
  };
  await readItems({ ...attempt, behavior }, (items) => items.forEach(meet), deps);
}

export function asTallyFile({ given, head, columns }: InputFile): TallyFile {
  const column = (field: string) => columns.columnOf.get(field);
  return { given, column, unit: unitOf(head.format), columnName: (field) => head.header[column(field) ?? -1] ?? field };
}

/** How a file's rejects are written, and with which other files' rejects they may share a table. */
export function asRejectedInput({ head, columns }: InputFile, { empty = "keep" }: ImportOptions): GroupedInput {
  const fields = new Map([...columns.columnOf].map(([field, column]) => [column, field]));
  // With --empty, a missing column differs from an empty cell.
  const known = empty === "keep" ? "" : [...columns.columnOf.keys()].toSorted().join();
  // A layout is recognized by its own column names, and reads a field from more than one column.
  const layout = columns.layout && Object.keys(columns.layout.fields).length > 0 ? columns.layout.name : "";
  const fieldOf = (column: number) => (layout === "" ? fields.get(column) : undefined);
  const group = `${layout} ${columns.dateOrder ?? ""} ${known}`;
  return { header: head.header, format: head.format, fieldOf, group };
}

/**
 * Converts the failure of a run, or of its verification or undo, to the error that a person sees; bugs stay as they are.
 * @param resume how to continue
 */
export function asImportError(error: unknown, resume: string, summary?: ImportSummary): unknown {
  if (error instanceof ImportError) {
    return summary === undefined
      ? error
      : new ImportError(error.kind, error.message, { hint: error.hint, summary, cause: error });
  }
  if (isDiskFull(error)) {
    const hint = `free up disk space; ${resume}`;
    return new ImportError("failed", "the disk is full", { hint, summary, cause: error });
  }
  if (!(error instanceof ServiceError)) return error;
  const kind = credentialErrors.has(error.kind) ? "auth" : error.temporary ? "temporary" : "failed";
  const hint = error.hint === undefined ? resume : `${error.hint}; ${resume}`;
  return new ImportError(kind, error.message, { hint, summary, cause: error });
}

/** Whether an error is the file system's or SQLite's code for a full disk. */
export function isDiskFull(error: unknown): boolean {
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  return code === "ENOSPC" || code === "EDQUOT" || errcode === 13;
}
