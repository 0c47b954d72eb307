import writeFileAtomic from "write-file-atomic";
import { asImportError } from "../run/attempt.ts";
import type { StoredRecords } from "./stored-records.ts";
import { Finding, type Found } from "./missing-rows.ts";
import { StoredKeys } from "./stored-keys.ts";
import { findRun, runPaths, type Manifest } from "../run/run-folder.ts";
import {
  type CountedService,
  openCounted,
  openRecordedRun,
  type RecordedRun,
  rejectElsewhere,
  replayRun,
} from "../run/recorded-run.ts";
import { checkRejectsPath, placeRows } from "../run/reject-copy.ts";
import { ImportError, usageError } from "../import-error.ts";
import type { ImportDeps } from "../deps.ts";
import type { ImportOptions } from "../options.ts";
import type { ImportSummary, Verification } from "../summary.ts";
import { dayMs } from "../../contract/time.ts";

export interface VerifyRequest {
  /** A further file for the missing rows, in the format of a reject file. */
  readonly missing?: string | undefined;
  readonly rate?: number | undefined;
  readonly rateShare?: number | undefined;
  /** The maximum number of rows to return; the file has all of them. */
  readonly maxListed: number;
}

export interface VerifiedRun extends Verification {
  import_id: string;
  kind: string;
}

/** The maximum number of rows in JSON output; the file has all of them. */
export const maxMissingListed = 10_000;

/**
 * The service's clock, which dates the records, may differ from ours.
 * Assumed: by no more than a day.
 */
const clockDifferenceMs = dayMs;

/**
 * Verifies a finished run if its options ask for it.
 * @throws ImportError with the run's summary, if verification fails
 */
export async function verifyAtEnd(
  summary: ImportSummary,
  { verify, rate, rateShare }: Partial<ImportOptions>,
  deps: ImportDeps,
): Promise<ImportSummary> {
  if (verify !== true || summary.import_id === null || summary.state !== "finished") return summary;
  const request = { rate, rateShare, maxListed: maxMissingListed };
  try {
    const { import_id: _id, kind: _kind, ...verified } = await verifyImport(summary.import_id, request, deps);
    return { ...summary, verified };
  } catch (error) {
    const hint = `everything was imported; to verify it, run: starpost imports verify ${summary.import_id}`;
    throw asImportError(error, hint, summary);
  }
}

/**
 * Reads back the records that a run's rows describe and reports the missing ones. Ignores rows that were rejected or
 * never sent; of an unfinished run, it checks what has been sent so far.
 * @throws ImportError `usage` as for a resume; ServiceError
 */
export async function verifyImport(id: string, request: VerifyRequest, deps: ImportDeps): Promise<VerifiedRun> {
  const manifest = findRun(deps.runsFolder, id);
  const given = manifest.files.map(({ path }) => path);
  checkRejectsPath(request.missing, given, deps.cwd, "--missing");
  rejectElsewhere(manifest, deps.target);
  const found = await verifyRun(manifest, request, deps);
  if (found.state === "finished") await keepOutcome(manifest, found, deps);
  return { import_id: manifest.import_id, kind: manifest.kind, ...found };
}

async function verifyRun(manifest: Manifest, request: VerifyRequest, deps: ImportDeps): Promise<Verification> {
  const startedMs = deps.clock();
  using run = await openRecordedRun(manifest, deps);
  const { storedRecords } = run.behavior;
  if (!storedRecords) {
    throw usageError(`${manifest.import_id}: cannot verify ${manifest.kind}`, "the service does not list them");
  }
  const service = await openCounted(request, deps);
  const ended = (found: Partial<Verification>): Verification => ({
    state: "finished",
    checked: { rows: 0, items: 0 },
    missing: [],
    missing_count: 0,
    different: [],
    different_count: 0,
    missing_file: null,
    rows_not_looked_for: 0,
    ...found,
    calls: service.calls(),
    duration_ms: deps.clock() - startedMs,
  });
  try {
    using storedKeys = new StoredKeys(run.folder);
    return ended(await compare({ run, storedRecords, service, storedKeys }, request, deps));
  } catch (error) {
    // A partial answer would be misleading.
    if (deps.stop.aborted && !(error instanceof ImportError)) return ended({ state: "interrupted" });
    throw error;
  } finally {
    await service.close();
  }
}

/** Records when a run was verified and the counts, without the rows. */
async function keepOutcome(
  { import_id }: Manifest,
  { missing: _rows, different: _values, ...found }: Verification,
  { runsFolder, clock }: ImportDeps,
): Promise<void> {
  const text = `${JSON.stringify({ at: new Date(clock()).toISOString(), ...found })}\n`;
  await writeFileAtomic(runPaths(runsFolder, import_id).verified, text, { mode: 0o600 });
}

interface Comparison {
  readonly run: RecordedRun;
  readonly storedRecords: StoredRecords;
  readonly service: CountedService;
  readonly storedKeys: StoredKeys;
}

/**
 * Compares with the records written since the run began, which are few in a large store. Only if some are missing,
 * compares with all records, since a row may describe an older record. Rows are collected last, once it is known which
 * of them wrote a field last.
 */
async function compare(
  comparison: Comparison,
  request: VerifyRequest,
  deps: ImportDeps,
): Promise<Partial<Verification>> {
  const { run, storedRecords, storedKeys } = comparison;
  const compareRun = (isWritten: boolean) => replay(comparison, new Finding(run, request.maxListed, isWritten), deps);
  const hasSent = run.settled.done.size > 0;
  const isNarrow = hasSent && storedRecords.canNarrow === true;
  if (hasSent) {
    const since = new Date(Date.parse(run.manifest.started_at) - clockDifferenceMs);
    await readHeld(comparison, isNarrow ? since : undefined, deps);
  }
  let { files: _none, ...found } = await compareRun(false);
  if (isNarrow && found.missing_count > 0) {
    storedKeys.clear();
    await readHeld(comparison, undefined, deps);
    ({ files: _none, ...found } = await compareRun(false));
  }
  if (found.missing_count + storedKeys.different === 0) return found;
  const { files, ...written } = await compareRun(true);
  return { ...written, missing_file: await placeRows(files, request.missing, deps, "--missing") };
}

async function readHeld(
  { storedRecords, service, storedKeys }: Comparison,
  since: Date | undefined,
  { report }: ImportDeps,
): Promise<void> {
  let records = 0;
  for await (const page of storedRecords.list(service.service, service.reading, since)) {
    storedKeys.add(page);
    records += page.length;
    report({ type: "readBack", records, calls: service.calls() });
  }
}

async function replay(
  { run, storedRecords, storedKeys }: Comparison,
  finding: Finding,
  deps: ImportDeps,
): Promise<Found & Pick<Verification, "rows_not_looked_for">> {
  try {
    const { rows } = await replayRun(
      run,
      (items, isSure) => isSure && finding.checkItems(items, storedRecords, storedKeys),
      deps,
    );
    const found = finding.end();
    return { ...found, rows_not_looked_for: rows.read - found.checked.rows };
  } catch (error) {
    finding.abandon();
    throw error;
  }
}
