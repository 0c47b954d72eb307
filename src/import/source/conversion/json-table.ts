import { closeSync, openSync, readSync, rmSync } from "node:fs";
import { readStart, readUtf8, type ByteSource } from "../../csv/byte-source.ts";
import type { FileFormat } from "../../csv/file-format.ts";
import { FileFormatError } from "../../import-error.ts";
import { writeFully } from "../../run/new-file.ts";
import { type JsonObject, readJsonRecords, recognizeShape } from "./json-records.ts";
import { formatOf, formatRecord, TableWriter } from "./table-writer.ts";

const maxColumns = 1_000;
/** How much of a file is read to recognize how it contains its records. */
const startBytes = 1024 * 1024;
const pieceBytes = 256 * 1024;
const carriageReturn = 13;

/** From a line on, rows have this many columns. */
interface Width {
  readonly line: number;
  readonly columns: number;
}

/**
 * Converts a JSON file to a table whose columns are those of all its objects, in the order in which they appear.
 * @param copy the path of the table
 * @throws FileFormatError if it is not valid JSON, or not a list of objects
 */
export function* convertJson(
  source: ByteSource,
  { encoding, copy }: { readonly encoding: string; readonly copy: string },
): Generator<{ readonly rows: number }, FileFormat> {
  const read = () => readUtf8(source, encoding);
  const shape = recognizeShape(readStart(read(), startBytes));
  const body = `${copy}.rows`;
  const writer = new TableWriter(body);
  const rows = new JsonRows(writer);
  try {
    try {
      for (const _ of readJsonRecords(read, shape, { record: (value, line) => rows.add(value, line) })) {
        yield { rows: rows.count };
      }
    } finally {
      writer.close();
    }
    if (rows.count === 0) throw new FileFormatError("the JSON file contains no objects");
    addHeader(body, copy, rows);
  } finally {
    rmSync(body);
  }
  return formatOf(shape === "sequence" ? "ndjson" : "json");
}

class JsonRows {
  readonly #writer: TableWriter;
  readonly #columns = new Map<string, number>();
  readonly widths: Width[] = [];
  count = 0;
  #lastLine = 0;

  constructor(writer: TableWriter) {
    this.#writer = writer;
  }

  get header(): string[] {
    return [...this.#columns.keys()];
  }

  add(value: JsonObject, line: number): void {
    if (line === this.#lastLine) {
      throw new FileFormatError("this line contains more than one object", "put each object on a line of its own", {
        line,
      });
    }
    this.#lastLine = line;
    this.count++;
    const cells: string[] = Array.from({ length: this.#columns.size }, () => "");
    for (const [name, cell] of flattenObject(value)) {
      const at = this.#columns.get(name);
      cells[at ?? this.#addColumn(name, line)] = cell;
    }
    this.#writer.add(line, cells);
  }

  #addColumn(name: string, line: number): number {
    const at = this.#columns.size;
    if (at === maxColumns) {
      throw new FileFormatError(
        `the objects have more than ${maxColumns} different properties, such as ${JSON.stringify(name.slice(0, 60))}`,
        "import a list of objects that all have the same properties",
      );
    }
    this.#columns.set(name, at);
    this.widths.push({ line, columns: at + 1 });
    return at;
  }
}

/** Copies the rows with a header in front, adding to each row the columns that only later objects have. */
function addHeader(body: string, copy: string, { header, widths }: JsonRows): void {
  const [input, output] = [openSync(body, "r"), openSync(copy, "w", 0o600)];
  try {
    writeFully(output, Buffer.from(formatRecord(header)));
    const buffer = Buffer.allocUnsafe(pieceBytes);
    let line = 1;
    let isBlank = true;
    let [missing, width] = [header.length, 0];
    for (let count = readSync(input, buffer); count > 0; count = readSync(input, buffer)) {
      const pieces: Buffer[] = [];
      for (let start = 0; start < count;) {
        const end = buffer.indexOf(carriageReturn, start);
        const isEnd = end >= 0 && end < count;
        const stop = isEnd ? end : count;
        pieces.push(buffer.subarray(start, stop));
        if (stop > start) isBlank = false;
        start = stop + 1;
        if (!isEnd) break;
        for (; (widths[width]?.line ?? Infinity) <= line; width++)
          missing = header.length - (widths[width]?.columns ?? 0);
        pieces.push(Buffer.from(isBlank ? "\r" : `${",".repeat(missing)}\r`));
        isBlank = true;
        line++;
      }
      writeFully(output, Buffer.concat(pieces));
    }
  } finally {
    closeSync(input);
    closeSync(output);
  }
}

/** Deeper objects are not flattened; exports nest a few levels. */
const maxDepth = 32;

/**
 * The cells of a JSON object by column: `{"reviewer": {"name": "Ada"}}` has the column `reviewer.name`. The values of an
 * array are joined with commas, and so are those of each property of its objects.
 * @throws FileFormatError if it is nested too deeply
 */
export function flattenObject(value: JsonObject): Map<string, string> {
  const cells = new Map<string, string>();
  addObject(value, "", cells, 1);
  return cells;
}

function addObject(value: JsonObject, prefix: string, cells: Map<string, string>, depth: number): void {
  for (const [name, member] of Object.entries(value)) addValue(member, prefix + name, cells, depth);
}

function addValue(value: unknown, column: string, cells: Map<string, string>, depth: number): void {
  if (typeof value !== "object" || value === null) {
    cells.set(column, typeof value === "string" ? value : value === null ? "" : JSON.stringify(value));
    return;
  }
  if (depth >= maxDepth) throw new FileFormatError(`an object is nested more than ${maxDepth} levels deep`);
  if (!Array.isArray(value)) {
    addObject(value as JsonObject, `${column}.`, cells, depth + 1);
    return;
  }
  const joined = new Map<string, string[]>();
  for (const element of value as readonly unknown[]) {
    const own = new Map<string, string>();
    addValue(element, column, own, depth + 1);
    for (const [name, text] of own) {
      const texts = joined.get(name) ?? [];
      if (text !== "") texts.push(text);
      joined.set(name, texts);
    }
  }
  if (joined.size === 0) cells.set(column, "");
  for (const [name, texts] of joined) cells.set(name, texts.join(","));
}
