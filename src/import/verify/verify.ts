import writeFileAtomic from "write-file-atomic";
import { asImportError } from "../run/attempt.ts";
import type { StoredRecords } from "./stored-records.ts";
import { StoredKeys } from "./stored-keys.ts";
import { findRun, runPaths, type Manifest } from "../run/run-folder.ts";
import { Finding, type Found } from "./missing-rows.ts";
import {
  type CountedService,
  openCounted,
  openRecordedRun,
  type RecordedRun,
  refuseElsewhere,
  replayRun,
} from "../run/recorded-run.ts";
import { checkRejectsPath, copyRejects } from "../run/reject-copy.ts";
import { ImportError } from "../import-error.ts";
import type { ImportDeps } from "../deps.ts";
import type { ImportOptions } from "../options.ts";
import type { ImportSummary, Verification } from "../summary.ts";
import { dayMs } from "../../contract/time.ts";

export interface VerifyRequest {
  /** Where the missing rows are wanted as well, in the form of a reject file. */
  readonly missing?: string | undefined;
  readonly rate?: number | undefined;
  readonly rateShare?: number | undefined;
  /** Rows that are given back one by one; all are in the file. */
  readonly mostListed: number;
}

export interface VerifiedRun extends Verification {
  import_id: string;
  kind: string;
}

/** Rows that scripts are given one by one; the file has them all. */
export const mostMissingListed = 10_000;

/**
 * What a run writes is dated by the service's clock, which may go otherwise than ours; milliseconds.
 * Assumed: by no more than a day.
 */
const clockDifferenceMs = dayMs;

/**
 * Reads back what a finished run took, where its options ask for it.
 * @throws ImportError with the run's summary, where that cannot be done
 */
export async function verifyAtEnd(
  summary: ImportSummary,
  { verify, rate, rateShare }: Partial<ImportOptions>,
  deps: ImportDeps,
): Promise<ImportSummary> {
  if (verify !== true || summary.import_id === null || summary.state !== "finished") return summary;
  const request = { rate, rateShare, mostListed: mostMissingListed };
  try {
    const { import_id: _id, kind: _kind, ...verified } = await verifyImport(summary.import_id, request, deps);
    return { ...summary, verified };
  } catch (error) {
    const hint = `all of it was imported; starpost imports verify ${summary.import_id} reads it back`;
    throw asImportError(error, summary, hint);
  }
}

/**
 * Reads back what a run's rows say to be on the service, and tells which are not there. Rows that were rejected or
 * never sent are not looked for; of a run that is not finished, what it did so far is.
 * @throws ImportError `usage` as for a resume; ServiceError
 */
export async function verifyImport(
  id: string,
  request: VerifyRequest,
  deps: ImportDeps,
): Promise<VerifiedRun> {
  const manifest = findRun(deps.runsFolder, id);
  const given = manifest.files.map(({ path }) => path);
  checkRejectsPath(request.missing, given, deps.cwd, "--missing");
  refuseElsewhere(manifest, deps.target);
  const found = await verifyRun(manifest, request, deps);
  if (found.state === "finished") await keepOutcome(manifest, found, deps);
  return { import_id: manifest.import_id, kind: manifest.kind, ...found };
}

async function verifyRun(
  manifest: Manifest,
  request: VerifyRequest,
  deps: ImportDeps,
): Promise<Verification> {
  const startedMs = deps.clock();
  using run = await openRecordedRun(manifest, deps);
  const { storedRecords } = run.behavior;
  if (!storedRecords) {
    throw new ImportError("usage", `${manifest.import_id}: ${manifest.kind} cannot be verified`, {
      hint: "the service does not list them",
    });
  }
  const service = await openCounted(request, deps);
  const ended = (found: Partial<Verification>): Verification => ({
    state: "finished",
    checked: { rows: 0, items: 0 },
    missing: [],
    missing_count: 0,
    missing_file: null,
    rows_not_looked_for: 0,
    ...found,
    calls: service.calls(),
    duration_ms: deps.clock() - startedMs,
  });
  try {
    using held = new StoredKeys(run.folder);
    return ended(await compare({ run, storedRecords, service, held }, request, deps));
  } catch (error) {
    // What was asked for is an answer; half of one is none.
    if (deps.stop.aborted && !(error instanceof ImportError)) return ended({ state: "interrupted" });
    throw error;
  } finally {
    await service.close();
  }
}

/** That and when a run was verified, without the rows. */
async function keepOutcome(
  { import_id }: Manifest,
  { missing: _rows, ...found }: Verification,
  { runsFolder, clock }: ImportDeps,
): Promise<void> {
  const text = `${JSON.stringify({ at: new Date(clock()).toISOString(), ...found })}\n`;
  await writeFileAtomic(runPaths(runsFolder, import_id).verified, text, { mode: 0o600 });
}

interface Comparison {
  readonly run: RecordedRun;
  readonly storedRecords: StoredRecords;
  readonly service: CountedService;
  readonly held: StoredKeys;
}

/**
 * Looks among what was written since the run began, which is little in a store that is large; and only where something
 * is not among that, among everything: a row that was there before the run is older.
 */
async function compare(
  comparison: Comparison,
  request: VerifyRequest,
  deps: ImportDeps,
): Promise<Partial<Verification>> {
  const { run, storedRecords, held } = comparison;
  const finding = new Finding(run, request.mostListed);
  if (run.settled.done.size > 0 && storedRecords.canNarrow) {
    await readHeld(comparison, new Date(Date.parse(run.manifest.started_at) - clockDifferenceMs), deps);
    const { files: _none, ...found } = await replay(comparison, finding, deps, false);
    if (found.missing_count === 0) return found;
    held.clear();
  }
  if (run.settled.done.size > 0) await readHeld(comparison, undefined, deps);
  const { files, ...found } = await replay(comparison, finding, deps, true);
  return { ...found, missing_file: await placeMissing(files, request, deps) };
}

/** Where the missing rows are at the end; those that need a table of their own are told. */
async function placeMissing(
  [first, ...others]: readonly string[],
  { missing }: VerifyRequest,
  deps: ImportDeps,
): Promise<string | null> {
  for (const path of others) {
    deps.report({
      type: "notice",
      message: `missing rows of files that are laid out differently are in ${path}`,
    });
  }
  if (first === undefined) return null;
  return missing === undefined ? first : copyRejects(first, missing, deps.cwd, "--missing");
}

async function readHeld(
  { storedRecords, service, held }: Comparison,
  since: Date | undefined,
  { report }: ImportDeps,
): Promise<void> {
  let records = 0;
  for await (const keys of storedRecords.list(service.service, service.reading, since)) {
    held.add(keys);
    records += keys.length;
    report({ type: "readBack", records, calls: service.calls() });
  }
}

async function replay(
  { run, storedRecords, held }: Comparison,
  finding: Finding,
  deps: ImportDeps,
  isLast: boolean,
): Promise<Found & Pick<Verification, "rows_not_looked_for">> {
  finding.begin(isLast);
  try {
    const { rows } = await replayRun(
      run,
      (items, isSure) => isSure && finding.look(items, storedRecords, held),
      deps,
    );
    const found = finding.end();
    return { ...found, rows_not_looked_for: rows.read - found.checked.rows };
  } catch (error) {
    finding.abandon();
    throw error;
  }
}
