import { setImmediate } from "node:timers/promises";
import type { Service } from "../service/service.ts";
import type { CallEvent } from "../service/transport.ts";
import { createCsvForm, createJsonForm, type ExportForm, type ExportFormat } from "./column-format.ts";
import { nouns } from "../records/exports.ts";
import type { ExportNoun, ExportQuery, ExportRow, Noun } from "./record-export.ts";
import type { Sink } from "./sink.ts";
import { SortedRows, type RowValues } from "./sorted-rows.ts";

export interface ExportRequest {
  readonly noun: ExportNoun;
  readonly query: ExportQuery;
  readonly format: ExportFormat;
  readonly isSafeForExcel: boolean;
}

export type ExportEvent =
  | { readonly type: "notice"; readonly message: string }
  | { readonly type: "wait"; readonly message: string; readonly ms: number }
  | {
      readonly type: "progress";
      readonly doing: "read" | "written";
      readonly rows: number;
      readonly pages: number;
    };

export interface ExportDeps {
  readonly service: Service;
  readonly sink: Sink;
  /** The first signal: what is in flight is finished. */
  readonly stop: AbortSignal;
  /** The second: nothing is waited for. */
  readonly abort: AbortSignal;
  readonly report: (event: ExportEvent) => void;
}

export interface ExportResult {
  /** `unread`: whoever read it went away before its end. */
  readonly state: "finished" | "interrupted" | "unread";
  readonly rows: number;
  readonly pages: number;
}

/** Passes over a list whose pages may shift; what still is new after so many comes from somebody who keeps writing. */
const maxPasses = 5;

/** Rows that become text at once. */
const rowsAPiece = 500;

/**
 * Exports all records of a noun, in an order that depends on nothing but what they say: what is imported from the file
 * into an empty account, and exported again, is the same file.
 * @throws ServiceError, and the file system's own errors
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
  const noun = nouns[request.noun];
  using rows = new SortedRows(noun.sortKeys);
  const reading = new Reading(noun, rows, deps, request);
  const isRead = await reading.readAll(request.query);
  const { pages } = reading;
  if (!isRead) return { state: "interrupted", rows: 0, pages };
  for (const message of reading.notices()) deps.report({ type: "notice", message });
  const state = await writeAll(createForm(noun, request), rows, pages, deps);
  return { state, rows: rows.count, pages };
}

function createForm({ columns, furtherFields = [] }: Noun, request: ExportRequest): ExportForm {
  const { format, isSafeForExcel } = request;
  return format === "csv"
    ? createCsvForm(columns, { isSafeForExcel })
    : createJsonForm([...columns, ...furtherFields], format);
}

/** Reads a noun's pages and keeps their rows, and what is worth saying of them. */
class Reading {
  readonly #noun: Noun;
  readonly #rows: SortedRows;
  readonly #deps: ExportDeps;
  readonly #fields: readonly string[];
  readonly #untold = new Set<string>();
  readonly #counts = new Map<string, number>();
  readonly #isForImport: boolean;
  #leftOut = 0;
  #isSettled = true;
  /** Pages that held something. */
  pages = 0;

  constructor(noun: Noun, rows: SortedRows, deps: ExportDeps, { format, isSafeForExcel }: ExportRequest) {
    this.#noun = noun;
    this.#rows = rows;
    this.#deps = deps;
    this.#isForImport = format === "csv" && !isSafeForExcel;
    this.#fields = [...noun.columns, ...(noun.furtherFields ?? [])];
  }

  /** @returns whether it came to the end */
  async readAll(query: ExportQuery): Promise<boolean> {
    for (let pass = 1; pass <= maxPasses; pass++) {
      const before = this.#rows.count;
      const pages = await this.#readPass(query);
      if (pages === undefined) return false;
      const isOnePage = pages <= 1;
      if (this.#noun.isCountedOff !== true || isOnePage || this.#rows.count === before) return true;
    }
    this.#isSettled = false;
    return true;
  }

  /** @returns how many pages there were, or nothing where a signal came */
  async #readPass(query: ExportQuery): Promise<number | undefined> {
    const { service, stop, abort, report } = this.#deps;
    const onEvent = (event: CallEvent) => {
      if (event.type === "wait") report({ type: "wait", message: event.message, ms: event.ms });
    };
    const before = this.pages;
    if (stop.aborted) return undefined;
    try {
      for await (const page of this.#noun.pages(service, query, { signal: abort, onEvent })) {
        if (page.length > 0) this.pages++;
        for (const row of page) this.#keep(row);
        report({ type: "progress", doing: "read", rows: this.#rows.count, pages: this.pages });
        if (stop.aborted) return undefined;
      }
    } catch (error) {
      if (abort.aborted) return undefined;
      throw error;
    }
    return this.pages - before;
  }

  #keep(row: ExportRow): void {
    if (this.#isForImport && this.#noun.isLeftOut?.(row) === true) {
      this.#leftOut++;
      return;
    }
    const values = this.#fields.map((field) => {
      const value = row.record[field];
      if (value === undefined) this.#untold.add(field);
      return value ?? null;
    });
    const isNew = this.#rows.add(row.id, row.sortKeys, values);
    const name = isNew ? this.#noun.countedAs?.(row) : undefined;
    if (name !== undefined) this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  *notices(): Generator<string> {
    const untold = this.#noun.columns.filter((column) => this.#untold.has(column));
    if (untold.length > 0) yield `the service does not tell ${untold.join(", ")}: nothing stands there`;
    yield* this.#noun.notices?.(this.#counts, this.#leftOut) ?? [];
    if (!this.#isSettled) {
      yield `the list kept changing while it was read ${maxPasses} times: some ${this.#noun.itemName.many} may be missing`;
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
    // Signals get their turn.
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
    if (piece.length < rowsAPiece) continue;
    yield piece;
    piece = [];
  }
  if (piece.length > 0) yield piece;
}
