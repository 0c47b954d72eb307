import { setImmediate } from "node:timers/promises";
import type { Service } from "../service/service.ts";
import type { CallEvent } from "../service/transport.ts";
import { createCsvForm, type CsvOptions, createJsonForm, type ExportForm, type ExportFormat } from "./column-format.ts";
import type { ExportLayout, ExportQuery, ExportRow, RecordExporter } from "./record-exporter.ts";
import type { Sink } from "./sink.ts";
import { SortedRows, type RowValues } from "./sorted-rows.ts";

export interface ExportRequest {
  readonly exporter: RecordExporter;
  /** The columns of CSV, and the first fields of JSON. */
  readonly columns: readonly string[];
  readonly query: ExportQuery;
  readonly format: ExportFormat;
  readonly csv: CsvOptions;
  /** The layout of another program, instead of the format. */
  readonly layout?: ExportLayout | undefined;
}

export type ExportEvent =
  | { readonly type: "notice"; readonly message: string }
  | { readonly type: "wait"; readonly message: string; readonly ms: number }
  | { readonly type: "progress"; readonly doing: "read" | "written"; readonly rows: number; readonly pages: number };

export interface ExportDeps {
  readonly service: Service;
  readonly sink: Sink;
  /** The first signal: requests in flight are finished. */
  readonly stop: AbortSignal;
  /** The second signal: everything ends at once. */
  readonly abort: AbortSignal;
  readonly report: (event: ExportEvent) => void;
}

export interface ExportResult {
  /** `unread`: the reader closed the stream before the end. */
  readonly state: "finished" | "interrupted" | "unread";
  readonly rows: number;
  readonly pages: number;
}

/** Maximum number of times to read a list whose pages shift; records that are still new then come from continuous writes. */
const maxPasses = 5;

/** Rows that are formatted at a time. */
const rowsPerPiece = 500;

/**
 * Exports all records of a kind in an order that depends only on their contents, so importing the file into an empty
 * account and exporting again yields the same file.
 * @throws ServiceError and file system errors
 */
export async function runExport(request: ExportRequest, deps: ExportDeps): Promise<ExportResult> {
  const { sink } = deps;
  let result: ExportResult | undefined;
  try {
    result = await readAndWrite(request, deps);
  } finally {
    if (result?.state === "finished") sink.finish();
    else sink.abandon();
  }
  return result;
}

async function readAndWrite(request: ExportRequest, deps: ExportDeps): Promise<ExportResult> {
  using rows = new SortedRows(request.layout ? 1 : request.exporter.sortKeys);
  const reading = new RecordReader(request, rows, deps);
  const isRead = await reading.readAll(request.query);
  const { pages } = reading;
  if (!isRead) return { state: "interrupted", rows: 0, pages };
  for (const message of reading.notices()) deps.report({ type: "notice", message });
  const state = await writeAll(await createForm(request, deps), rows, pages, deps);
  return { state, rows: rows.count, pages };
}

async function createForm(
  { exporter, columns, format, csv, layout }: ExportRequest,
  { service, abort }: ExportDeps,
): Promise<ExportForm> {
  if (layout) return layout.createForm(csv, service, { signal: abort });
  return format === "csv"
    ? createCsvForm(columns, csv)
    : createJsonForm([...columns, ...(exporter.jsonFields ?? [])], format);
}

/** Reads the pages of a kind, stores their rows, and collects notices about them. */
class RecordReader {
  readonly #request: ExportRequest;
  readonly #exporter: RecordExporter;
  readonly #rows: SortedRows;
  readonly #deps: ExportDeps;
  readonly #fields: readonly string[];
  readonly #missingFields = new Set<string>();
  readonly #counts = new Map<string, number>();
  readonly #layout: ExportLayout | undefined;
  /** The number of records that the layout cannot hold, by reason. */
  readonly #unfit = new Map<string, number>();
  #omitted = 0;
  #isSettled = true;
  /** Non-empty pages. */
  pages = 0;

  constructor(request: ExportRequest, rows: SortedRows, deps: ExportDeps) {
    const { exporter, columns, layout } = request;
    this.#request = request;
    this.#exporter = exporter;
    this.#layout = layout;
    this.#rows = rows;
    this.#deps = deps;
    this.#fields = layout?.fields ?? [...columns, ...(exporter.jsonFields ?? [])];
  }

  /** @returns whether it reached the end */
  async readAll(query: ExportQuery): Promise<boolean> {
    for (let pass = 1; pass <= maxPasses; pass++) {
      const before = this.#rows.count;
      const pages = await this.#readPass(query);
      if (pages === undefined) return false;
      const isOnePage = pages <= 1;
      if (this.#exporter.hasShiftingPages !== true || isOnePage || this.#rows.count === before) return true;
    }
    this.#isSettled = false;
    return true;
  }

  /** @returns the number of pages, or undefined after a signal */
  async #readPass(query: ExportQuery): Promise<number | undefined> {
    const { service, stop, abort, report } = this.#deps;
    const onEvent = (event: CallEvent) => {
      if (event.type === "wait") report({ type: "wait", message: event.message, ms: event.ms });
    };
    const before = this.pages;
    if (stop.aborted) return undefined;
    try {
      for await (const page of this.#exporter.pages(service, query, { signal: abort, onEvent })) {
        if (page.length > 0) this.pages++;
        for (const row of page) this.#store(row);
        report({ type: "progress", doing: "read", rows: this.#rows.count, pages: this.pages });
        if (stop.aborted) return undefined;
      }
    } catch (error) {
      if (abort.aborted) return undefined;
      throw error;
    }
    return this.pages - before;
  }

  #store(row: ExportRow): void {
    if (this.#request.format === "csv" && this.#exporter.isOmitted?.(row) === true) {
      this.#omitted++;
      return;
    }
    const unfit = this.#layout?.omits?.(row.record);
    if (unfit !== undefined) {
      this.#unfit.set(unfit, (this.#unfit.get(unfit) ?? 0) + 1);
      return;
    }
    const values = this.#fields.map((field) => {
      const value = row.record[field];
      if (value === undefined) this.#missingFields.add(field);
      return value ?? null;
    });
    const sortKeys = this.#layout ? [this.#layout.sortKeyOf(row.record)] : row.sortKeys;
    const isNew = this.#rows.add(row.id, sortKeys, values);
    const name = isNew ? this.#exporter.countAs?.(row) : undefined;
    if (name !== undefined) this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  *notices(): Generator<string> {
    const missing = (this.#layout?.fields ?? this.#request.columns).filter((column) => this.#missingFields.has(column));
    if (missing.length > 0) yield `the service does not return ${missing.join(", ")}; these columns are empty`;
    const { one, many } = this.#exporter.itemName;
    for (const [reason, count] of this.#unfit)
      yield `omitted ${count === 1 ? `1 ${one}` : `${count} ${many}`}: ${reason}`;
    yield* this.#exporter.notices?.(this.#counts, this.#omitted) ?? [];
    if (!this.#isSettled) {
      yield `the list changed during each of ${maxPasses} reads; some ${this.#exporter.itemName.many} may be missing`;
    }
  }
}

async function writeAll(
  form: ExportForm,
  rows: SortedRows,
  pages: number,
  { sink, stop, report }: ExportDeps,
): Promise<ExportResult["state"]> {
  let written = 0;
  let isRead = await sink.write(form.start);
  for (const piece of inPieces(rows.read())) {
    if (!isRead || stop.aborted) break;
    isRead = await sink.write(form.rows(piece, written === 0));
    written += piece.length;
    report({ type: "progress", doing: "written", rows: written, pages });
    // Lets signals be handled.
    await setImmediate();
  }
  if (stop.aborted) return "interrupted";
  isRead &&= await sink.write(form.end);
  return isRead ? "finished" : "unread";
}

function* inPieces(rows: Iterable<RowValues>): Generator<RowValues[]> {
  let piece: RowValues[] = [];
  for (const row of rows) {
    piece.push(row);
    if (piece.length < rowsPerPiece) continue;
    yield piece;
    piece = [];
  }
  if (piece.length > 0) yield piece;
}
