import { resolve } from "node:path";
import { toFileError, UserError } from "../../../config/user-error.ts";
import { type ExportEvent, runExport } from "../../../export/export.ts";
import type { ExportQuery } from "../../../export/record-exporter.ts";
import { findKind } from "../../../records/index.ts";
import { createStreamSink, openFileSink, type Sink } from "../../../export/sink.ts";
import { countOf } from "../../../terminal/plural.ts";
import type { FlagValues } from "../../program/command.ts";
import type { Connection } from "../../../app/ports.ts";
import type { Context } from "../../program/context.ts";
import type { exportFlags } from "./export-flags.ts";
import { ExportProgress } from "./export-progress.ts";
import type { ExportSummary } from "./export-view.ts";
import { wantsRedaction } from "../../program/global-flags.ts";
import { describeTarget } from "./import-format.ts";
import { listenForStop } from "../../program/stop-signals.ts";

interface Request {
  readonly noun: string;
  readonly flags: FlagValues<typeof exportFlags>;
  readonly query: ExportQuery;
}

/** Exports the records of a noun to a file or to standard output. */
export async function exportRecords(
  context: Context,
  { noun, flags, query }: Request,
): Promise<ExportSummary> {
  const { io, messages, globals } = context;
  const format = globals.format === "table" ? "csv" : globals.format;
  const isSafeForExcel = flags["safe-for-excel"] ?? false;
  if (isSafeForExcel && format !== "csv") {
    throw new UserError(
      "usage",
      `--safe-for-excel is for CSV, and not for ${format}`,
      "Leave it out, or give --format csv.",
    );
  }
  if (flags.out !== undefined && wantsRedaction(io.argv, io.env)) {
    throw new UserError(
      "usage",
      "--redact hides addresses in what is printed, and not in the file of --out",
      "Leave --out away, and lead standard output to the file.",
    );
  }
  const startedMs = io.clock();
  const file = flags.out === undefined || flags.out === "-" ? null : flags.out;
  const profile = await context.profile();
  const sink = file === null ? createStreamSink(io.stdout) : openFile(file, context);
  const signals = listenForStop(io, () => messages.info("Stopping; a second signal stops at once."));
  const progress = await messages.openProgress();
  try {
    const { rate, "rate-share": rateShare } = flags;
    const connection = await context.connect({ rate, rateShare }).catch((error: unknown) => {
      sink.abandon();
      throw error;
    });
    const state = new ExportProgress(io.clock, connection.ratePerSecond);
    const report = (event: ExportEvent) => {
      if (event.type === "notice") return messages.warn(event.message);
      state.take(event);
      progress.show(() => state.word());
    };
    const { stop, abort } = signals;
    const kind = findKind(noun);
    const exporter = await kind.loadExporter();
    const request = { exporter, columns: kind.columns, query, format, isSafeForExcel };
    const result = await finishExport(connection, (service) =>
      runExport(request, { service, sink, stop, abort, report }),
    ).catch((error: unknown) => {
      throw toFileError(error, file ?? "standard output");
    });
    progress.stop();
    const summary = { noun, file, format, ...result, duration_ms: io.clock() - startedMs };
    tellEnd(summary, { context, isSafeForExcel, target: describeTarget(profile) });
    return summary;
  } finally {
    progress.stop();
    signals.release();
  }
}

async function finishExport<T>(
  connection: Connection,
  run: (service: Connection["service"]) => Promise<T>,
): Promise<T> {
  try {
    return await run(connection.service);
  } finally {
    await connection.close();
  }
}

function openFile(file: string, { io }: Context): Sink {
  try {
    return openFileSink(resolve(io.cwd, file), io.random);
  } catch (error) {
    const problem = toFileError(error, file, "--out names a file in a folder that can be written to.");
    throw problem instanceof UserError
      ? new UserError("usage", problem.message, problem.hint, error)
      : problem;
  }
}

function tellEnd(
  { noun, state, file, rows }: ExportSummary,
  { context, isSafeForExcel, target }: { context: Context; isSafeForExcel: boolean; target: string },
): void {
  const { messages } = context;
  if (state === "interrupted") {
    messages.warn(file === null ? "Interrupted." : `Interrupted: ${file} was not written.`);
    return;
  }
  if (state === "unread") return;
  if (isSafeForExcel) {
    messages.warn(
      "A file for looking at: what a spreadsheet would take for a formula has a ' before it. Do not import it.",
    );
  }
  const where = file === null ? "" : ` to ${file}`;
  messages.info(`Exported ${countOf(rows, "row")} of ${noun} from ${target}${where}.`);
}
