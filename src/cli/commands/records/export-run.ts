import { resolve } from "node:path";
import { toFileError, UserError, usageError } from "../../../config/user-error.ts";
import { type ExportEvent, type ExportResult, runExport } from "../../../export/export.ts";
import type { ExportQuery, RecordExporter } from "../../../export/record-exporter.ts";
import type { RecordKind } from "../../../import/kind.ts";
import { createStreamSink, openFileSink, type Sink } from "../../../export/sink.ts";
import { countOf, formatNumber } from "../../../terminal/plural.ts";
import type { Format } from "../../../terminal/view.ts";
import type { Redactor } from "../../../terminal/redactor.ts";
import type { Context } from "../../program/context.ts";
import { describeTarget } from "./import-format.ts";
import type { Messages } from "../../program/output/messages.ts";
import { csvTextOf } from "../../program/output/csv-text.ts";
import { listenForStop } from "../../program/stop-signals.ts";
import { isPaced, type Pace, ProgressLine, ProgressMeter } from "../../program/output/progress-meter.ts";

interface ExportFlags {
  /** The output file; standard output if undefined or `-`. */
  readonly out?: string | undefined;
  readonly "safe-for-excel"?: boolean | undefined;
  readonly rate?: number | undefined;
  readonly "rate-share"?: number | undefined;
}

/** Exports all records of a kind to a file or to standard output. */
export async function exportRecords(
  context: Context,
  kind: RecordKind,
  query: ExportQuery,
  { out, "safe-for-excel": hasByteOrderMark = false, rate, "rate-share": rateShare }: ExportFlags,
) {
  const { io, messages, globals } = context;
  const format = globals.format === "table" ? "csv" : globals.format;
  const loaded = await kind.loadExporter();
  const layout = query["layout"] === undefined ? undefined : loaded.layouts?.[query["layout"]];
  checkFormat(globals.format, layout, hasByteOrderMark);
  if (out !== undefined && io.redactor) {
    throw usageError("--redact cannot be used with --out", "Remove --out and redirect standard output to the file.");
  }
  const startedMs = io.clock();
  const file = out === undefined || out === "-" ? null : out;
  const csv = { toText: csvTextOf(io, globals, file !== null), hasByteOrderMark };
  const profile = await context.profile();
  const sink = file === null ? createStreamSink(io.stdout) : openFile(file, context);
  const signals = listenForStop(io, {
    onStop: (name) =>
      messages.info(name === "SIGINT" ? "Stopping. Press Ctrl-C again to stop immediately." : "Stopping."),
    onExit: () => sink.abandon(),
  });
  const progress = await messages.openProgress();
  try {
    const connection = await context.connect({ rate, rateShare }).catch((error: unknown) => {
      sink.abandon();
      throw error;
    });
    const state = new ExportProgress(io.clock, connection.ratePerSecond);
    const report = (event: ExportEvent) => {
      if (event.type === "notice") return messages.warn(event.message);
      state.add(event);
      progress.show(() => state.format());
    };
    const { stop, abort } = signals;
    const exporter = io.redactor ? redactRecords(loaded, io.redactor) : loaded;
    const request = { exporter, columns: kind.columns, query, format, csv, layout };
    let result: ExportResult;
    try {
      result = await runExport(request, { service: connection.service, sink, stop, abort, report });
    } catch (error) {
      throw toFileError(error, file ?? "standard output");
    } finally {
      await connection.close();
    }
    progress.stop();
    reportEnd(messages, result, file, `${kind.name} from ${describeTarget(profile)}`);
    // No file: standard output contains the records, and no summary.
    return { noun: kind.name, file, format, ...result, duration_ms: io.clock() - startedMs };
  } finally {
    progress.stop();
    signals.release();
  }
}

/** @throws UserError `usage` if flags contradict the format */
function checkFormat(given: Format, layout: { readonly isCsv?: boolean } | undefined, isForExcel: boolean): void {
  const format = given === "table" ? "csv" : given;
  if (isForExcel && format !== "csv") {
    throw usageError(
      `--safe-for-excel cannot be used with --format ${format}`,
      "Remove one of them, or use --format csv.",
    );
  }
  if (layout && format !== "csv") {
    throw usageError(
      `--layout cannot be used with ${given === "json" ? "--json" : `--format ${format}`}`,
      "Remove one of them: a layout has a format of its own.",
    );
  }
  if (layout && !layout.isCsv && isForExcel) {
    throw usageError("--safe-for-excel cannot be used with a layout that is not CSV", "Remove --safe-for-excel.");
  }
}

/** Hides personal data in all records. */
function redactRecords(exporter: RecordExporter, redactor: Redactor): RecordExporter {
  return {
    ...exporter,
    async *pages(service, query, options) {
      for await (const page of exporter.pages(service, query, options)) {
        yield page.map(({ id, sortKeys, record }) => ({ id, sortKeys, record: redactor.data(record) }));
      }
    },
  };
}

function openFile(file: string, { io }: Context): Sink {
  try {
    return openFileSink(resolve(io.cwd, file), io.random);
  } catch (error) {
    const cause = toFileError(error, file, "Pass --out a file in a writable folder.");
    throw cause instanceof UserError ? usageError(cause.message, cause.hint, error) : cause;
  }
}

function reportEnd(messages: Messages, { state, rows }: ExportResult, file: string | null, what: string): void {
  if (state === "interrupted") {
    messages.warn(file === null ? "Interrupted." : `Interrupted. ${file} was not written.`);
  } else if (state !== "unread") {
    messages.info(`Exported ${countOf(rows, "row")} of ${what}${file === null ? "" : ` to ${file}`}.`);
  }
}

/** Formats the progress of an export from its events. The total is unknown until the end. */
class ExportProgress {
  readonly #meter = new ProgressMeter();
  readonly #line: ProgressLine;
  readonly #pace: Pace | undefined;
  #last: Extract<ExportEvent, { type: "progress" }> | undefined;

  constructor(clock: () => number, ratePerSecond: number | undefined) {
    this.#line = new ProgressLine(clock);
    this.#pace = ratePerSecond === undefined ? undefined : { ratePerSecond, source: "service limit" };
  }

  add(event: Exclude<ExportEvent, { type: "notice" }>): void {
    if (event.type === "wait") return this.#line.wait(event);
    const atMs = this.#line.nowMs();
    const reading = { atMs, rows: event.rows, calls: event.pages };
    if (event.doing === this.#last?.doing) this.#meter.add(reading);
    else this.#meter.restart(reading);
    this.#last = event;
  }

  format(): string {
    return this.#line.format((nowMs) => this.#parts(nowMs));
  }

  #parts(nowMs: number): string[] {
    if (!this.#last) return [];
    const { doing, rows, pages } = this.#last;
    const speed = this.#meter.speed(nowMs);
    const isLimited = speed && doing === "read" && isPaced(speed, this.#pace);
    return [
      `${formatNumber(rows)} ${doing}`,
      speed ? `${formatNumber(Math.round(speed.rows))}/s` : "",
      countOf(pages, "page"),
      isLimited && this.#pace ? `${formatNumber(this.#pace.ratePerSecond)} calls/s (${this.#pace.source})` : "",
    ];
  }
}
