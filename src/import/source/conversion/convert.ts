import { rmSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import iconv from "iconv-lite";
import { openSource, readBytes, type ByteSource } from "../../csv/byte-source.ts";
import { guessEncoding } from "../../csv/encoding-detection.ts";
import type { FileFormat } from "../../csv/file-format.ts";
import type { ImportContext } from "../../context.ts";

/** A file to convert, and where its table goes. */
interface Conversion {
  readonly given: string;
  readonly path: string;
  readonly entry?: string | undefined;
  readonly copy: string;
}

type ConvertingDeps = Pick<ImportContext, "abort" | "report">;

/** Number of steps after which signals and timers are handled. */
const stepsInARow = 4;
/** How many bytes are read to recognize a format. */
const startBytes = 4096;

/**
 * Converts a file that is not CSV to a table, once, so that the import reads it like any other file.
 * @returns the format of the table; undefined if the file needs no conversion
 * @throws FileFormatError if the file is damaged
 */
export async function convertFile(
  { given, path, entry, copy }: Conversion,
  options: { readonly encoding?: string | undefined },
  { abort, report }: ConvertingDeps,
): Promise<FileFormat | undefined> {
  const source = openSource(path, entry);
  const start = readStart(source);
  const encoding = options.encoding ?? guessEncoding(start).encoding;
  if (!isJson(start, encoding)) return undefined;
  const { convertJson } = await import("./json-table.ts");
  const steps = convertJson(source, { encoding, copy });
  try {
    for (let count = 1; ; count++) {
      const step = steps.next();
      if (step.done) return step.value;
      if (count % stepsInARow !== 0) continue;
      await setImmediate();
      abort.throwIfAborted();
      report({ type: "reading", doing: "converting", file: given, rows: step.value.rows });
    }
  } catch (error) {
    rmSync(copy, { force: true });
    throw error;
  }
}

function readStart(source: ByteSource): Buffer {
  const pieces: Buffer[] = [];
  let length = 0;
  for (const piece of readBytes(source)) {
    pieces.push(Buffer.from(piece));
    length += piece.length;
    if (length >= startBytes) break;
  }
  return Buffer.concat(pieces).subarray(0, startBytes);
}

/** Whether a text begins as only JSON does: with an object, or with an array of values. */
function isJson(start: Buffer, encoding: string): boolean {
  if (!iconv.encodingExists(encoding)) return false;
  return /^\s*(?:\{\s*["}]|\[\s*[[{"\]\d-])/.test(iconv.decode(start, encoding, { stripBOM: true }));
}
