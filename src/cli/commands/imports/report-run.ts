import { join, resolve } from "node:path";
import { readFileIfThere, writePrivateFile } from "../../../config/private-file.ts";
import { UserError } from "../../../config/user-error.ts";
import { runPaths } from "../../../import/run/run-folder.ts";
import { recordKinds } from "../../../records/index.ts";
import { readRunReport, type RunReport } from "../../../import/report/run-report.ts";
import { createPseudonym, hideAddresses } from "../../../terminal/redaction.ts";
import { renderRunReport, reportMarker } from "../../../pages/run-report/page.ts";
import type { Context } from "../../program/context.ts";
import { isForScripts, wantsRedaction } from "../../program/global-flags.ts";
import { openFile } from "../../program/open-file.ts";
import { confirm } from "../../program/confirm.ts";
import { findRedactionKey } from "../../program/output/redacted-io.ts";

export interface ReportRequest {
  /** Where the page goes; the run's folder where absent. */
  readonly out: string | undefined;
  readonly isOpened: boolean;
}

/** What a script is told of a run: the facts of the page, with times in the form that all data has. */
export type ReportData = ReturnType<typeof toData>;

/**
 * Writes a page about a run, and opens it where that is asked for. A script that asks for neither gets the facts alone.
 * Assumed: a page that was written so before is replaced without a question, and any other file is asked about, as with
 * the preview of a mail.
 * @throws ImportError `usage` when there is no such run
 */
export async function reportRun(
  context: Context,
  id: string,
  { out, isOpened }: ReportRequest,
): Promise<ReportData> {
  const { io, globals, messages } = context;
  if (out === "" || out === "-") {
    throw new UserError(
      "usage",
      `--out ${out}: the page goes to a file`,
      "Give a name, as in --out report.html.",
    );
  }
  const { paths } = await context.host();
  const isRedacted = wantsRedaction(io.argv, io.env);
  const read = readRunReport(paths.runsFolder, id, recordKinds);
  const report = isRedacted ? hideIn(read, createPseudonym(await findRedactionKey(io))) : read;
  const isPage = out !== undefined || isOpened || !isForScripts(globals.format);
  if (!isPage) return toData(report, null);
  const { folder } = runPaths(paths.runsFolder, report.summary.import_id ?? "");
  // One that hides nothing is not to be taken for one that does.
  const own = join(folder, isRedacted ? "report-redacted.html" : "report.html");
  const path = out === undefined ? own : resolve(io.cwd, out);
  if (out !== undefined) await askToReplace(context, path, out);
  await writePrivateFile(path, renderRunReport(report));
  if (isOpened) {
    const problem = await openFile(path, io.env);
    if (problem !== undefined)
      messages.warn(`The report could not be opened (${problem}): open ${path} by hand.`);
  }
  return toData(report, path);
}

async function askToReplace(context: Context, path: string, out: string): Promise<void> {
  const there = await readFileIfThere(path);
  if (there !== undefined && !there.includes(reportMarker)) {
    await confirm(context, `${out} is there. Overwrite it?`);
  }
}

type Pseudonym = ReturnType<typeof createPseudonym>;

/** The same value with the addresses in all its texts hidden. */
function hideIn<T>(value: T, pseudonym: Pseudonym): T {
  const hide = (found: unknown): unknown => {
    if (typeof found === "string") return hideAddresses(found, pseudonym);
    if (Array.isArray(found)) return found.map(hide);
    if (typeof found !== "object" || found === null) return found;
    return Object.fromEntries(Object.entries(found).map(([name, inner]) => [name, hide(inner)]));
  };
  return hide(value) as T;
}

function toData({ summary, timeline, files, ...report }: RunReport, reportFile: string | null) {
  const time = (ms: number) => new Date(ms).toISOString();
  return {
    ...summary,
    ...report,
    file_details: files,
    timeline: {
      interval_ms: timeline.intervalMs,
      has_retries_and_waits: timeline.hasPulses,
      points: timeline.points.map(({ at, waits, ...counts }) => ({
        at: time(at),
        ...counts,
        waits_ms: waits,
      })),
      attempts: timeline.attempts.map(({ from, to, rows, isEnded }) => ({
        from: time(from),
        to: time(to),
        rows,
        ended: isEnded,
      })),
    },
    report_file: reportFile,
  };
}
