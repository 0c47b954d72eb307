import type { Service } from "../../service/service.ts";
import type { CallOptions } from "../../service/transport.ts";
import { asTallyFile, prepareItems, removeWorkFolders } from "./attempt.ts";
import { RunTally } from "./tally.ts";
import type { Chunk } from "../send/chunks.ts";
import { openFiles, type InputFile, type Reading } from "../source/input-files.ts";
import type { ImportContext } from "../context.ts";
import type { ImportKind } from "../kinds.ts";
import type { Item } from "../item.ts";
import { findOutcome, readEntries, settle, type Settled, type Totals } from "./journal.ts";
import { KeyStore } from "./key-store.ts";
import { lockRun, rejectRemoved, runPaths, type Manifest, type ManifestFile } from "./run-folder.ts";
import { findFiles, type Restored } from "./kept-files.ts";
import { existsSync } from "node:fs";
import { readAll, type RunFiles } from "./run-reader.ts";
import { type ImportError, usageError } from "../import-error.ts";
import type { ImportDeps } from "../deps.ts";
import type { ImportOptions } from "../options.ts";

/** An earlier run with its files as they were then; locked until it is disposed. */
export interface RecordedRun extends RunFiles, Disposable {
  readonly manifest: Manifest;
  readonly kind: ImportKind;
  readonly settled: Settled;
  readonly paths: ReturnType<typeof runPaths>;
}

/** @throws ImportError `usage` if the profile's account differs from the run's */
export function rejectElsewhere(run: Manifest, target: string): void {
  if (run.target === target) return;
  throw usageError(
    `${run.import_id} belongs to the profile ${run.profile}, at ${run.target}`,
    `the current profile is ${target}; use the profile with which the run began`,
  );
}

/** The files of a run, open; those that were restored from copies are removed when this is disposed. */
export interface ReopenedFiles extends Disposable {
  readonly files: readonly InputFile[];
}

/**
 * Opens the files of a run again.
 * @param attempts whether copies in the folder of the run are used: the last one if files have changed
 * @throws ImportError `usage` if one is missing or has changed, and there is no copy
 */
export async function reopenFiles(
  before: Manifest,
  reading: Reading,
  context: Pick<ImportContext, "kinds" | "runsFolder"> & Partial<Pick<ImportContext, "report">>,
  attempts: readonly Restored[] = ["none"],
): Promise<ReopenedFiles> {
  const { folder } = runPaths(context.runsFolder, before.import_id);
  for (const restored of attempts) {
    const found = await findFiles(before, folder, restored);
    try {
      const located = found.files.map(({ given, path, entry, format }) => ({
        given,
        path,
        entry,
        ...(format.origin && { converted: { format, from: path } }),
      }));
      rejectMissing(before, found.files);
      const files = await openFiles(located, reading, context);
      const changed = files.find((file, at) => file.survey.sha256 !== before.files[at]?.sha256);
      if (!changed) return { files, [Symbol.dispose]: () => found[Symbol.dispose]() };
      if (restored === attempts.at(-1)) throw changedError(before, changed);
      found[Symbol.dispose]();
    } catch (error) {
      found[Symbol.dispose]();
      throw error;
    }
  }
  throw new Error("the files were opened neither in their places nor from their copies");
}

function rejectMissing({ import_id, files }: Manifest, found: readonly ManifestFile[]): void {
  const missing = found.find(({ path }) => !existsSync(path));
  if (!missing) return;
  const { sha256 = "" } = files.find(({ given }) => given === missing.given) ?? {};
  throw usageError(
    `${missing.path}: no such file, and ${import_id} has no copy of it`,
    `put the file back, whose SHA-256 is ${sha256}`,
  );
}

function changedError({ import_id, files }: Manifest, { given, path }: InputFile): ImportError {
  const { sha256 = "" } = files.find((file) => file.given === given) ?? {};
  return usageError(
    `${path} has changed since ${import_id} began`,
    `restore the old file, whose SHA-256 is ${sha256}, or import the new one separately; records that are already stored are not duplicated`,
  );
}

/** @throws ImportError `usage` as `reopenFiles`, and while another process holds the run */
export async function openRecordedRun(
  manifest: Manifest,
  { runsFolder, kinds }: Pick<ImportContext, "runsFolder" | "kinds">,
): Promise<RecordedRun> {
  rejectRemoved(manifest);
  const { options } = manifest;
  const kind = kinds.get(manifest.kind);
  const behavior = kind.prepare(options);
  const paths = runPaths(runsFolder, manifest.import_id);
  const lock = lockRun(runsFolder, manifest.import_id);
  try {
    removeWorkFolders(paths.folder);
    const reopened = await reopenFiles(manifest, { kind, behavior, options }, { kinds, runsFolder }, [
      "missing",
      "all",
    ]);
    const settled = settle(readEntries(paths.journal));
    const run = { manifest, kind, options, behavior, files: reopened.files, settled, paths, folder: paths.folder };
    const startedMs = Date.parse(manifest.started_at);
    const close = () => {
      reopened[Symbol.dispose]();
      lock[Symbol.dispose]();
    };
    return { ...run, startedMs, [Symbol.dispose]: close };
  } catch (error) {
    lock[Symbol.dispose]();
    throw error;
  }
}

/** @param isSure whether the service confirmed that it accepted them */
export type Visit = (taken: readonly Item[], isSure: boolean) => void;

/**
 * Reads a run's files again and visits the items that the service accepted, call by call, as well as those of
 * unanswered calls, which it may have accepted.
 * @param options whether items are as they were sent (`isAsSent`), or as they are in the files
 * @returns the totals: what was accepted, and as `failed` also what was never sent or answered
 */
export async function replayRun(
  run: RecordedRun,
  visit: Visit,
  deps: Pick<ImportDeps, "clock" | "stop" | "abort" | "report">,
  { isAsSent = false } = {},
): Promise<Totals> {
  const { behavior, options, settled, paths } = run;
  const tally = new RunTally(run.files.map(asTallyFile), undefined);
  using keys = behavior.existing && new KeyStore(paths.keys);
  // Rows are read as the run read them.
  const preparation = await prepareItems({ ...run, isFirst: false }, undefined, deps);
  const all = { ...run, options: { ...options, maxErrors: undefined }, ...(isAsSent && { preparation }) };
  // Sends nothing: each call of the run that the journal shows as answered gets the same outcome again.
  const submit = async (chunk: Chunk) => {
    const problems = findOutcome(settled, chunk);
    if (problems) {
      tally.settle(chunk.items, problems);
      const taken = chunk.items.filter((_, at) => !problems.has(at));
      return visit(taken, true);
    }
    tally.fail(chunk.items, "was not sent, or was never answered");
    if (settled.unknown.has(chunk.n)) visit(chunk.items, false);
  };
  const replayer = { submit, drain: async () => {}, failure: undefined };
  try {
    await readAll(all, tally, keys, replayer, {
      ...deps,
      report: (event) => {
        if (event.type !== "progress") return;
        deps.report({ type: "reading", doing: "again", file: run.files[0]?.given ?? "", rows: event.rows.read });
      },
    });
  } finally {
    preparation?.[Symbol.dispose]();
  }
  deps.stop.throwIfAborted();
  return tally.totals;
}

/** A connection for inspecting or undoing a run, with its calls counted. */
export interface CountedService {
  readonly service: Service;
  /** Options for reads, which the first signal cancels. */
  readonly reading: CallOptions;
  /** Options for writes, which only the second signal cancels. */
  readonly writing: CallOptions;
  readonly calls: () => number;
  close(): Promise<void>;
}

/** Connects to the service so that calls are paced, reported, and counted, and none begins after the first signal. */
export async function openCounted(
  pace: Pick<ImportOptions, "rate" | "rateShare">,
  { openService, stop, abort, report }: Pick<ImportDeps, "openService" | "stop" | "abort" | "report">,
): Promise<CountedService> {
  const opened = await openService(pace);
  let calls = 0;
  const onEvent: CallOptions["onEvent"] = (event) => {
    if (event.type === "wait") report({ type: "wait", message: event.message, ms: event.ms });
    if (event.type === "attempt" && event.attempt > 1) calls++;
  };
  const onCall = () => {
    stop.throwIfAborted();
    calls++;
  };
  return {
    service: watchCalls(opened.service, onCall),
    reading: { signal: stop, onEvent },
    writing: { signal: abort, onEvent },
    calls: () => calls,
    close: () => opened.close(),
  };
}

type AnyCall = (input: unknown, options?: CallOptions) => Promise<unknown>;

/** The same service with a callback before each call. */
function watchCalls(service: Service, onCall: () => void): Service {
  const { engine, ...calls } = service;
  const groups = Object.entries(calls).map(([group, verbs]) => {
    const watched = Object.entries(verbs as Record<string, AnyCall>).map(([verb, call]) => {
      const watchedCall: AnyCall = async (input, options) => {
        onCall();
        return call(input, options);
      };
      return [verb, watchedCall];
    });
    return [group, Object.fromEntries(watched)];
  });
  return { ...(Object.fromEntries(groups) as Service), engine };
}
