import { join, resolve } from "node:path";
import { readFileIfExists, writePrivateFile } from "../../../config/private-file.ts";
import { usageError } from "../../../config/user-error.ts";
import { runPaths } from "../../../import/run/run-folder.ts";
import { recordKinds } from "../../../records/index.ts";
import { readRunReport, type RunReport } from "../../../import/report/run-report.ts";
import { renderRunReport, reportMarker } from "../../../pages/run-report/page.ts";
import type { Context } from "../../program/context.ts";
import { isForScripts } from "../../program/global-flags.ts";
import { confirm } from "../../program/confirm.ts";
import { spawn } from "node:child_process";
import { platform } from "node:os";
import { pathToFileURL } from "node:url";
import type { Environment } from "../../../config/environment.ts";

export interface ReportRequest {
  /** The output file; by default, a file in the folder of the run. */
  readonly out: string | undefined;
  readonly isOpened: boolean;
}

/** The data of a report, with times as ISO timestamps. */
export type ReportData = ReturnType<typeof toData>;

/**
 * Writes a report on a run, and opens it with `--open`. With a format for scripts, writes the file only with `--out` or
 * `--open`.
 * Assumed: an earlier report is overwritten without confirmation; any other file is not.
 * @throws ImportError `usage` if there is no such run
 */
export async function reportRun(context: Context, id: string, { out, isOpened }: ReportRequest): Promise<ReportData> {
  const { io, globals, messages } = context;
  if (out === "" || out === "-") {
    throw usageError(
      `invalid value ${JSON.stringify(out)} for --out: must be a file name`,
      "For example: --out report.html",
    );
  }
  const { paths } = await context.host();
  const read = readRunReport(paths.runsFolder, id, recordKinds);
  const report = io.redactor?.data(read) ?? read;
  const isPage = out !== undefined || isOpened || !isForScripts(globals.format);
  if (!isPage) return toData(report, null);
  const { folder } = runPaths(paths.runsFolder, report.summary.import_id ?? "");
  // Separate names, so that a report with addresses is not mistaken for a redacted one.
  const defaultPath = join(folder, io.redactor ? "report-redacted.html" : "report.html");
  const path = out === undefined ? defaultPath : resolve(io.cwd, out);
  if (out !== undefined) await confirmOverwrite(context, path, out);
  await writePrivateFile(path, renderRunReport(report));
  if (isOpened) {
    const error = await openFile(path, io.env);
    if (error !== undefined) messages.warn(`Could not open the report: ${error}. The file is ${path}`);
  }
  return toData(report, path);
}

async function confirmOverwrite(context: Context, path: string, out: string): Promise<void> {
  const existing = await readFileIfExists(path);
  if (existing !== undefined && !existing.includes(reportMarker)) {
    await confirm(context, `Overwrite ${out}, which already exists?`);
  }
}

function toData({ summary, timeline, files, ...report }: RunReport, reportFile: string | null) {
  const time = (ms: number) => new Date(ms).toISOString();
  return {
    ...summary,
    ...report,
    file_details: files,
    timeline: {
      interval_ms: timeline.intervalMs,
      has_retries_and_waits: timeline.hasHeartbeats,
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

/** An opener that is still running after this time has succeeded. */
const timeoutMs = 3_000;

/** The command that opens a file in its default application. */
function openerOf(path: string): readonly [command: string, ...args: string[]] {
  if (platform() === "darwin") return ["open", path];
  // Without a shell, which would interpret special characters in the path.
  if (platform() === "win32") return ["rundll32", "url.dll,FileProtocolHandler", pathToFileURL(path).href];
  return ["xdg-open", path];
}

/**
 * Opens a file in its default application.
 * @returns the reason if it could not be opened
 */
function openFile(path: string, env: Environment): Promise<string | undefined> {
  const [command, ...args] = openerOf(path);
  return new Promise((settle) => {
    const child = spawn(command, args, { env: { ...env }, stdio: "ignore", detached: true });
    const answer = (problem: string | undefined) => {
      clearTimeout(timer);
      child.unref();
      settle(problem);
    };
    const timer = setTimeout(() => answer(undefined), timeoutMs);
    child.on("error", (error: NodeJS.ErrnoException) =>
      answer(error.code === "ENOENT" ? `${command} not found` : error.message),
    );
    child.on("exit", (code) => answer(code === 0 ? undefined : `${command} exited with ${code ?? "a signal"}`));
  });
}
