import { closeSync, openSync, rmSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import iconv from "iconv-lite";
import { openSource, readBytes, readStart, type ByteSource } from "../../csv/byte-source.ts";
import { guessEncoding } from "../../csv/encoding-detection.ts";
import type { FileFormat } from "../../csv/file-format.ts";
import type { HeaderSearch } from "../../csv/locate-header.ts";
import type { ImportContext } from "../../context.ts";
import type { ImportOptions } from "../../options.ts";
import { usageError } from "../../import-error.ts";
import { writeFully } from "../../run/new-file.ts";
import { stampFile, type StampedFile } from "../containers/file-pieces.ts";
import { isOfficeDocument } from "../containers/zip-directory.ts";

/** A file to convert, and where its table goes. */
interface Conversion {
  readonly given: string;
  readonly path: string;
  readonly entry?: string | undefined;
  readonly copy: string;
}

interface ConvertingOptions extends Pick<ImportOptions, "encoding" | "sheet"> {
  readonly search?: HeaderSearch;
}
type ConvertingDeps = Pick<ImportContext, "abort" | "report">;

/** The steps of a conversion, with the number of rows so far. */
type Steps = Generator<{ readonly rows: number }, FileFormat>;

/** Number of steps after which signals and timers are handled. */
const stepsInARow = 4;
/** How many bytes are read to recognize a format. */
const startBytes = 4096;

/**
 * Converts a file that is not CSV to a table, once, so that the import reads it like any other file.
 * @returns the format of the table; undefined if the file needs no conversion
 * @throws FileFormatError if the file is damaged
 * @throws ImportError `usage` if it has no sheet of the given name, or a flag does not apply to it
 */
export async function convertFile(
  conversion: Conversion,
  options: ConvertingOptions,
  deps: ConvertingDeps,
): Promise<FileFormat | undefined> {
  const { copy } = conversion;
  const extracted = `${copy}.xlsx`;
  let isDone = false;
  try {
    const steps = await openConversion(conversion, extracted, options, deps);
    const format = steps && (await run(steps, conversion.given, deps));
    isDone = format !== undefined;
    return format;
  } finally {
    rmSync(extracted, { force: true });
    if (!isDone) rmSync(copy, { force: true });
  }
}

async function openConversion(
  { given, path, entry, copy }: Conversion,
  extracted: string,
  { encoding: requested, sheet, search }: ConvertingOptions,
  { report }: ConvertingDeps,
): Promise<Steps | undefined> {
  const source = openSource(path, entry);
  const start = readStart(readBytes(source), startBytes);
  const notice = (message: string) => report({ type: "notice", message });
  if (start.toString("latin1", 0, 4) === "PK\u0003\u0004") {
    const file = source.packed === undefined ? source : extract(source, extracted);
    if (isOfficeDocument(file)) {
      const { convertSheet } = await import("./workbook/workbook-table.ts");
      return convertSheet(file, { given, sheet, search, copy, notice });
    }
  }
  if (sheet !== undefined) notice(`${given}: ignored --sheet, because the file is not an Excel workbook`);
  const encoding = requested ?? guessEncoding(start).encoding;
  if (!iconv.encodingExists(encoding)) return undefined;
  // Begins as only JSON does: with an object, or with an array of values.
  const isJson = /^\s*(?:\{\s*["}]|\[\s*[[{"\]\d-])/.test(iconv.decode(start, encoding, { stripBOM: true }));
  if (!isJson) return undefined;
  if (search?.row !== undefined) {
    throw usageError(
      `${given}: --header-row cannot be used with a JSON file`,
      "remove --header-row; the properties name the columns",
    );
  }
  const { convertJson } = await import("./json-table.ts");
  return convertJson(source, { encoding, copy });
}

async function run(steps: Steps, given: string, { abort, report }: ConvertingDeps): Promise<FileFormat> {
  for (let count = 1; ; count++) {
    const step = steps.next();
    if (step.done) return step.value;
    if (count % stepsInARow !== 0) continue;
    await setImmediate();
    // Closes the files.
    if (abort.aborted) steps.throw(abort.reason);
    report({ type: "reading", doing: "converting", file: given, rows: step.value.rows });
  }
}

/** A workbook is not read from its beginning to its end, so a compressed one is extracted first. */
function extract(source: ByteSource, path: string): StampedFile {
  const descriptor = openSync(path, "w", 0o600);
  try {
    for (const piece of readBytes(source)) writeFully(descriptor, piece);
  } finally {
    closeSync(descriptor);
  }
  return stampFile(path);
}
