import { setImmediate } from "node:timers/promises";
import { RunTally } from "./tally.ts";
import { callSizeOf, type Chunk, Chunker } from "../send/chunks.ts";
import { readRows, type InputFile } from "../source/input-files.ts";
import { ItemReader } from "../check/items.ts";
import type { ImportBehavior, ItemPreparation } from "../kind.ts";
import type { Item } from "../item.ts";
import type { KeyStore } from "./key-store.ts";
import type { Sender } from "../send/sender.ts";
import type { ImportDeps } from "../deps.ts";
import type { ImportOptions } from "../options.ts";
import type { RunState } from "../summary.ts";

/** The files of a run and how to read them: every time, the same items in the same calls. */
export interface RunFiles {
  readonly options: ImportOptions;
  readonly behavior: ImportBehavior;
  /** When the run began. */
  readonly startedMs: number;
  readonly files: readonly InputFile[];
  /** The folder for rows that do not fit into memory. */
  readonly folder: string;
  /** What changes items before they are sent; only if they are sent. */
  readonly preparation?: ItemPreparation | undefined;
}

/** What reading needs from its caller. */
export type ReadingDeps = Pick<ImportDeps, "clock" | "stop" | "abort" | "report">;

const progressEveryMs = 100;

/** Reads and sends all files; returns the final state. */
export async function readAll(
  attempt: RunFiles,
  tally: RunTally,
  keys: KeyStore | undefined,
  sender: Sender,
  deps: ReadingDeps,
): Promise<RunState> {
  const { behavior, files, options, startedMs, preparation } = attempt;
  const chunker = new Chunker(options.batchSize ?? callSizeOf(behavior).recommended ?? 1);
  const pace = createPace(attempt, tally, deps);
  let rows = 0;
  for (const [index, file] of files.entries()) {
    const items = new ItemReader({ behavior, tally, keys, file, fileIndex: index, options, startedMs });
    const submit = async (found: Iterable<Item>) => {
      for (const item of found) {
        preparation?.prepare(item);
        const chunk = chunker.add(item);
        if (chunk) {
          await sender.submit(chunk);
          // Calls may be slow, and a batch may have many rows.
          pace.report();
        }
        if (pace.mustStop() || sender.failure !== undefined) return;
      }
    };
    for (const rowBatch of readRows(file, groupingOf(attempt, file))) {
      await submit(items.read(rowBatch));
      // Lets responses, signals, and timers be handled.
      await setImmediate();
      pace.report();
      if (pace.mustStop() || sender.failure !== undefined) break;
    }
    rows += items.rows;
    if (pace.mustStop() || sender.failure !== undefined) break;
    await submit(items.end());
    for (const message of describeSkipped(items)) deps.report({ type: "notice", message: `${file.given}: ${message}` });
  }
  const last = pace.mustStop() || sender.failure !== undefined ? undefined : chunker.flush();
  if (last) await sender.submit(last);
  await sender.drain();
  pace.report(true);
  if (sender.failure !== undefined) throw sender.failure;
  const stopped = pace.mustStop();
  if (stopped) return stopped;
  const { read } = tally.totals.rows;
  if (read !== rows) throw new Error(`the totals do not add up: ${rows} rows were read, but ${read} are accounted for`);
  return "finished";
}

function* describeSkipped({ blankRows, skipped }: ItemReader): Generator<string> {
  const count = (rows: number, what: string) =>
    `skipped ${rows.toLocaleString("en-US")} ${what}${rows === 1 ? "row" : "rows"}`;
  if (blankRows > 0) yield count(blankRows, "empty ");
  for (const [reason, rows] of skipped) yield `${count(rows, "")} ${reason}`;
}

/** Reads all items of a run and sends nothing. Rows that are invalid are skipped. */
export async function readItems(
  run: RunFiles,
  visit: (items: readonly Item[]) => void,
  deps: ReadingDeps,
): Promise<void> {
  const files = run.files.map(({ given }) => ({ given, column: () => undefined, columnName: (name: string) => name }));
  const tally = new RunTally(files, undefined);
  const submit = async ({ items }: Chunk) => {
    visit(items);
    tally.settle(items, new Map());
  };
  const all = { ...run, options: { ...run.options, maxErrors: undefined } };
  const sender = { submit, drain: async () => {}, failure: undefined };
  await readAll(all, tally, undefined, sender, { ...deps, report: () => {} });
}

function groupingOf({ behavior, folder }: RunFiles, { keyColumn, survey, columns }: InputFile) {
  const { repeated } = survey;
  const groups = columns.layout?.groups;
  if (groups && columns.fields && "family" in groups.by) {
    return { familyOf: columns.fields.familyOf(groups.by.family), folder };
  }
  const isGrouped = groups ? "columns" in groups.by : behavior.groupField !== undefined;
  return isGrouped && repeated ? { keyColumn, repeated, folder } : undefined;
}

/** Stops the run early if necessary, and reports progress. */
function createPace({ options, files }: RunFiles, tally: RunTally, deps: ReadingDeps) {
  const callsBefore = tally.calls.sent;
  const rowsTotal = files.reduce((sum, file) => sum + file.survey.records, 0);
  const { maxErrors } = options;
  const errorLimit = !maxErrors
    ? Infinity
    : "count" in maxErrors
      ? maxErrors.count
      : (rowsTotal * maxErrors.percent) / 100;
  let reportedMs = 0;
  return {
    mustStop: (): RunState | undefined => {
      if (deps.stop.aborted || deps.abort.aborted) return "interrupted";
      return tally.errors > errorLimit ? "stopped" : undefined;
    },
    report: (isLast = false) => {
      const nowMs = deps.clock();
      if (!isLast && nowMs - reportedMs < progressEveryMs) return;
      reportedMs = nowMs;
      const { rows, calls } = tally.totals;
      const isReplay = callsBefore > 0 && calls.sent === callsBefore;
      deps.report({ type: "progress", rows, calls, rowsTotal, isReplay });
    },
  };
}
