import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { ServiceError } from "../contract/index.ts";
import { callSizeOf, largeCallSizeOf } from "./send/chunks.ts";
import { isDiskFull, runAttempt, summarizeUnrecorded } from "./run/attempt.ts";
import { expandGlobs, locateFiles } from "./source/located-files.ts";
import { describeFiles, openFiles } from "./source/input-files.ts";
import { applyMapping } from "./mapping/mapping-file.ts";
import type { ImportBehavior } from "./kind.ts";
import type { ImportKind } from "./kinds.ts";
import {
  createRunFolder,
  createRunsFolder,
  findRun,
  listManifests,
  removeRunFolder,
  runPaths,
  summarizeRun,
  writeManifest,
  type Manifest,
  isHeld,
} from "./run/run-folder.ts";
import { rejectElsewhere, reopenFiles } from "./run/recorded-run.ts";
import { checkRejectsPath } from "./run/reject-copy.ts";
import { ImportError, usageError } from "./import-error.ts";
import { createHeaderSearch } from "./mapping/header-row.ts";
import type { ImportDeps } from "./deps.ts";
import type { ImportOptions } from "./options.ts";
import type { ImportSummary } from "./summary.ts";
import { rejectUndone } from "./undo/undo-record.ts";
import { verifyAtEnd } from "./verify/verify.ts";
import { createHash } from "node:crypto";
import { FileLock } from "../storage/file-lock.ts";
import { TemporaryFolder } from "../storage/temporary-folder.ts";
import type { ImportContext } from "./context.ts";

/**
 * Imports files of one kind: reads, checks, groups, and sends their rows, and records the run. A dry run does the same
 * without sending or recording anything.
 * @throws ImportError if it cannot start or continue; with the run's summary if there is a run
 */
export async function startImport(
  request: { readonly kind: string; readonly files: readonly string[]; readonly options: ImportOptions },
  deps: ImportDeps,
): Promise<ImportSummary> {
  const kind = deps.kinds.get(request.kind);
  const rejects = request.options.rejects;
  const given = {
    ...applyMapping(kind, request.options, deps.cwd),
    ...(rejects === undefined ? {} : { rejects: resolve(deps.cwd, rejects) }),
  };
  const prepared = kind.prepare(given);
  const behavior = deps.observer?.behavior(prepared) ?? prepared;
  const { max = Infinity } = callSizeOf(behavior);
  if (given.batchSize !== undefined && given.batchSize > max) {
    throw usageError(
      `invalid value "${given.batchSize}" for --batch-size: the service accepts at most ${max} per call`,
    );
  }
  const isPaced = given.rate !== undefined && given.rate > 0;
  const prefersLarge = deps.prefersLargeCalls === true && !isPaced;
  // Recorded with the run, so that a resume divides the files into the same calls.
  const batchSize = given.batchSize ?? (prefersLarge ? largeCallSizeOf(behavior) : undefined);
  const options = batchSize === undefined ? given : { ...given, batchSize };
  const files = await expandGlobs(request.files, deps);
  checkRejectsPath(rejects, files, deps.cwd);
  const run = options.dryRun ? dryRun : newRun;
  return verifyAtEnd(await orDiskFull(run({ kind, files, options }, behavior, deps)), options, deps);
}

async function orDiskFull(running: Promise<ImportSummary>): Promise<ImportSummary> {
  try {
    return await running;
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    throw new ImportError("failed", "the disk is full", { hint: "free up disk space and try again", cause: error });
  }
}

/**
 * Continues a run that was interrupted, stopped, or failed, without sending what is settled.
 * @throws ImportError `usage` if a file has changed, the profile is a different one, or the run is in progress
 */
export async function resumeImport(
  id: string,
  overrides: Partial<Pick<ImportOptions, "maxErrors" | "concurrency" | "rate" | "rateShare" | "verify">>,
  deps: ImportDeps,
): Promise<ImportSummary> {
  const before = findRun(deps.runsFolder, id);
  if (before.state === "finished") {
    deps.report({ type: "notice", message: `${before.import_id} is finished; there is nothing to resume` });
    const { verified, undo } = runPaths(deps.runsFolder, before.import_id);
    const isDone = existsSync(verified) || existsSync(undo);
    const asked = overrides.verify === true ? overrides : isDone ? {} : before.options;
    return verifyAtEnd(summarizeRun(deps.runsFolder, before), asked, deps);
  }
  rejectElsewhere(before, deps.target);
  rejectUndone(before, deps.runsFolder);
  const options = { ...before.options, ...overrides };
  const kind = deps.kinds.get(before.kind);
  const behavior = kind.prepare(options);
  const { folder } = runPaths(deps.runsFolder, before.import_id);
  using _ = lockKind(kind, behavior, deps);
  using reopened = await reopenFiles(before, { kind, behavior, options }, deps);
  const { files } = reopened;
  const manifest: Manifest = { ...before, options, state: "running" };
  const attempt = { kind, options, manifest, behavior, startedMs: Date.parse(manifest.started_at), files, folder };
  return verifyAtEnd(await orDiskFull(runAttempt(attempt, deps)), options, deps);
}

/** Lists all runs, newest first. */
export async function listImports(runsFolder: string): Promise<ImportSummary[]> {
  return listManifests(runsFolder).map((manifest) => summarizeRun(runsFolder, manifest));
}

/** @throws ImportError `usage` if there is no such run */
export async function showImport(runsFolder: string, id: string): Promise<ImportSummary> {
  return summarizeRun(runsFolder, findRun(runsFolder, id));
}

interface ImportRequest {
  readonly kind: ImportKind;
  readonly files: readonly string[];
  readonly options: ImportOptions;
}

async function newRun(request: ImportRequest, behavior: ImportBehavior, deps: ImportDeps): Promise<ImportSummary> {
  const { kind, files: given, options } = request;
  const nowMs = deps.clock();
  createRunsFolder(deps.runsFolder);
  using _ = lockKind(kind, behavior, deps);
  const id = createRunFolder(deps.runsFolder, nowMs, deps.random);
  const { folder } = runPaths(deps.runsFolder, id);
  const notBegun = { kind: kind.name, files: given, startedMs: nowMs };
  let isBegun = false;
  try {
    const files = await openNew(request, behavior, folder, deps);
    if (files) deps.observer?.files(files);
    if (!files || deps.stop.aborted) return summarizeUnrecorded(notBegun, "interrupted");
    const manifest: Manifest = {
      format: 1,
      import_id: id,
      kind: kind.name,
      files: files.map((file) => ({
        given: file.given,
        path: file.path,
        entry: file.entry,
        size_bytes: file.survey.sizeBytes,
        sha256: file.survey.sha256,
        format: file.head.format,
      })),
      options,
      profile: deps.profileName,
      target: deps.target,
      version: deps.version,
      started_at: new Date(nowMs).toISOString(),
      state: "running",
      rejects_file: null,
    };
    reportEarlierRuns(manifest, deps);
    await writeManifest(deps.runsFolder, manifest);
    isBegun = true;
    return await runAttempt({ kind, options, manifest, behavior, startedMs: nowMs, files, folder }, deps);
  } catch (error) {
    if (!isBegun && deps.abort.aborted) return summarizeUnrecorded(notBegun, "interrupted");
    const refused = asRefused(error);
    if (!refused) throw error;
    isBegun = false;
    throw refused;
  } finally {
    if (!isBegun) removeRunFolder(deps.runsFolder, id);
  }
}

/**
 * The sign-in failure or the missing information that ended a new run before anything was sent. Such a run is not kept,
 * and its error does not mention it.
 */
function asRefused(error: unknown): unknown {
  const { kind } = error as { readonly kind?: unknown };
  if (kind === "usage" && error instanceof ImportError) {
    const { message, hint, summary, quotesCells } = error;
    return summary?.calls.sent === 0 ? usageError(message, hint, { quotesCells }) : undefined;
  }
  if (kind !== "auth") return undefined;
  // The profile has no secret.
  if (!(error instanceof ImportError)) return error;
  const { message, summary, cause } = error;
  if (summary?.calls.sent !== 0 || !(cause instanceof ServiceError)) return undefined;
  const hint = cause.hint ?? "check the app key and the base URL, or sign in again: starpost auth login";
  return new ImportError("auth", message, { hint, cause });
}

async function dryRun(request: ImportRequest, behavior: ImportBehavior, deps: ImportDeps): Promise<ImportSummary> {
  const { kind, options } = request;
  using folder = new TemporaryFolder("dry-run");
  const files = (await openNew(request, behavior, folder.path, deps)) ?? [];
  return await runAttempt({ kind, options, behavior, startedMs: deps.clock(), files, folder: folder.path }, deps);
}

/** Locates the files of a new import, opens them, and reports what was detected; undefined after a signal. */
async function openNew(
  { kind, files: given, options }: ImportRequest,
  behavior: ImportBehavior,
  folder: string,
  deps: ImportDeps,
) {
  const located = await locateFiles(given, folder, deps, { ...options, search: createHeaderSearch(kind, options) });
  // A pipe that the signal ended has delivered only part of its rows; importing that part would be wrong.
  if (deps.stop.aborted && !options.dryRun) return undefined;
  const files = await openFiles(located, { kind, behavior, options, isNew: true }, deps);
  for (const message of describeFiles(files, behavior, deps)) deps.report({ type: "notice", message });
  return files;
}

/** Reports an earlier run of the same bytes: the person may have meant to resume it. */
function reportEarlierRuns(manifest: Manifest, { runsFolder, report }: ImportDeps): void {
  const hashes = new Set(manifest.files.map(({ sha256 }) => sha256));
  const earlier = listManifests(runsFolder).find(
    ({ kind, target, files }) =>
      kind === manifest.kind && target === manifest.target && files.some(({ sha256 }) => hashes.has(sha256)),
  );
  if (!earlier) return;
  const { import_id, state } = summarizeRun(runsFolder, earlier);
  const flag = state === "stopped" ? " --max-errors 100%" : "";
  const message =
    state === "finished"
      ? `import ${import_id} already imported the same file`
      : `import ${import_id} of the same file is ${state}; to continue it, run: starpost imports resume ${import_id}${flag}`;
  report({ type: "notice", message });
}

/** How long to wait for another run to end, in milliseconds. */
const waitMs = 300;

/**
 * Ensures that no other run of this machine imports the same kind into the same account, if the records may exist more
 * than once: each run would store them. Other kinds are safe, because the second run changes nothing or is refused by the
 * service. The lock of a killed run is free.
 * @returns the lock, which holds until it is disposed; undefined if none is needed
 * @throws ImportError `failed` while another run holds the lock
 */
export function lockKind(
  kind: ImportKind,
  behavior: ImportBehavior,
  { runsFolder, target }: Pick<ImportContext, "runsFolder" | "target">,
): FileLock | undefined {
  if (!behavior.numberDouble) return undefined;
  const account = createHash("sha256").update(target).digest("hex").slice(0, 16);
  const lock = FileLock.acquire(join(runsFolder, `${kind.name}-${account}.lock`), { waitMs });
  if (lock) return lock;
  const running = listManifests(runsFolder).find(
    (run) =>
      run.kind === kind.name &&
      run.target === target &&
      run.state === "running" &&
      isHeld(join(runsFolder, run.import_id)),
  );
  const name = running ? `import ${running.import_id}` : "another import";
  const { many } = behavior.itemName;
  throw new ImportError("failed", `${name} is importing ${many} into the same account`, {
    hint: `wait until it finishes or stop it, then try again; ${many} that are already stored are not stored twice`,
  });
}
