import { parentPort } from "node:worker_threads";
import type { KeyFilter } from "./key-filter.ts";
import { readRowBatches, type RowBatch } from "./row-batches.ts";
import { surveyFile, type Survey } from "./survey.ts";
import type { FileFormat } from "./file-format.ts";

/** One file for the reader's thread. */
export interface ReaderFile {
  readonly path: string;
  readonly format: FileFormat;
  /** The column by which rows belong together, from 0; -1 for none. */
  readonly keyColumn: number;
  /** Where rows may be put aside. */
  readonly folder: string;
}

export type ReaderRequest =
  | { readonly type: "survey" | "read"; readonly file: ReaderFile }
  /** One more batch may be sent. */
  | { readonly type: "credit" };

export type ReaderAnswer =
  | { readonly type: "survey"; readonly survey: Survey }
  | { readonly type: "batch"; readonly batch: RowBatch }
  | { readonly type: "end" }
  | { readonly type: "error"; readonly error: unknown };

const repeatedByPath = new Map<string, KeyFilter | undefined>();
let reading: Generator<RowBatch> | undefined;
let credits = 0;

function answer(message: ReaderAnswer): void {
  parentPort?.postMessage(message);
}

function sendBatches(): void {
  while (reading && credits > 0) {
    const next = reading.next();
    if (next.done) {
      reading = undefined;
      answer({ type: "end" });
      return;
    }
    if (next.value.rows.length === 0) continue;
    credits--;
    answer({ type: "batch", batch: next.value });
  }
}

function handle(request: ReaderRequest): void {
  if (request.type === "credit") {
    credits++;
    sendBatches();
    return;
  }
  const { path, format, keyColumn, folder } = request.file;
  if (request.type === "survey") {
    const { survey, repeated } = surveyFile(path, format, keyColumn);
    repeatedByPath.set(path, repeated);
    answer({ type: "survey", survey });
    return;
  }
  const repeated = keyColumn < 0 ? undefined : repeatedByPath.get(path);
  reading = readRowBatches(path, format, repeated && { keyColumn, repeated, folder });
}

parentPort?.on("message", (request: ReaderRequest) => {
  try {
    handle(request);
  } catch (error) {
    answer({ type: "error", error });
  }
});
