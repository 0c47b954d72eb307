import { Tokenizer, TokenParser } from "@streamparser/json";
import { FileFormatError } from "../../import-error.ts";
import { maxRowLength } from "./table-writer.ts";
import { isJsonObject } from "../../../contract/json-text.ts";

/**
 * How a JSON text contains its records: one after another (NDJSON), as the elements of an array, or as the elements of
 * the only array of an object, such as `{"orders": […]}`.
 */
export type JsonShape = "sequence" | "array" | "wrapper";

export type JsonObject = Readonly<Record<string, unknown>>;

interface Handler {
  readonly record: (value: JsonObject, line: number) => void;
}

const paths: Readonly<Record<JsonShape, string[]>> = { sequence: ["$"], array: ["$.*"], wrapper: ["$.*.*"] };
const lineFeed = 10;

/** Returns numbers as strings, with all their digits: an ID may have more than a double-precision number can hold. */
class ExactTokenizer extends Tokenizer {
  protected override parseNumber(text: string): number {
    const hasExponent = /[eE]/.test(text);
    return (hasExponent ? String(Number(text)) : text) as unknown as number;
  }
}

/**
 * Passes on the records of a JSON text in UTF-8. Numbers are strings, as they are written.
 * @throws FileFormatError if it is not valid JSON, or contains anything but objects
 */
export function* readJsonRecords(pieces: () => Iterable<Buffer>, shape: JsonShape, handler: Handler): Generator<void> {
  const parser = new RecordParser(shape, handler);
  let count = 0;
  for (const piece of pieces()) {
    try {
      parser.write(piece);
    } catch (error) {
      if (error instanceof FileFormatError) throw error;
      throw locateError(pieces(), shape, count);
    }
    count++;
    yield;
  }
  try {
    parser.end();
  } catch (error) {
    if (error instanceof FileFormatError) throw error;
    throw new FileFormatError("the JSON text is incomplete: it ends in the middle of a value", "export the file again");
  }
}

class RecordParser {
  readonly #shape: JsonShape;
  readonly #handler: Handler;
  readonly #tokenizer = new ExactTokenizer();
  readonly #parser: TokenParser;
  #arrayName: string | undefined;
  #elements = 0;
  #line = 1;
  /** The line of the first token of the open record. */
  #recordLine = 0;
  #bytesSinceRecord = 0;

  constructor(shape: JsonShape, handler: Handler) {
    this.#shape = shape;
    this.#handler = handler;
    const isSequence = shape === "sequence";
    this.#parser = new TokenParser({ paths: paths[shape], keepStack: false, ...(isSequence && { separator: "" }) });
    this.#tokenizer.onToken = (token) => {
      if (this.#recordLine === 0) this.#recordLine = this.#line;
      this.#parser.write(token);
    };
    this.#tokenizer.onEnd = () => {
      if (!this.#parser.isEnded) this.#parser.end();
    };
    this.#parser.onError = (error) => this.#tokenizer.error(error);
    this.#parser.onEnd = () => {
      if (!this.#tokenizer.isEnded) this.#tokenizer.end();
    };
    this.#parser.onValue = ({ value, parent, stack }) => {
      if (shape !== "wrapper") this.#add(value);
      else if (Array.isArray(parent)) this.#addWrapped(value, String(stack[1]?.key));
    };
  }

  write(piece: Buffer): void {
    this.#bytesSinceRecord += piece.length;
    if (this.#bytesSinceRecord > maxRowLength) throw this.#refuse("is larger than 8 MiB");
    if (this.#shape !== "sequence") {
      this.#tokenizer.write(piece);
      return;
    }
    for (let start = 0; start < piece.length;) {
      const lineEnd = piece.indexOf(lineFeed, start);
      const end = lineEnd < 0 ? piece.length : lineEnd + 1;
      this.#tokenizer.write(piece.subarray(start, end));
      if (lineEnd >= 0) this.#line++;
      start = end;
    }
  }

  end(): void {
    if (!this.#tokenizer.isEnded) this.#tokenizer.end();
    if (this.#shape === "wrapper" && this.#elements === 0) {
      throw new FileFormatError(
        "the JSON object contains no array of objects",
        "the file must contain an array of objects, or one object per line",
      );
    }
  }

  #addWrapped(value: unknown, name: string): void {
    // Arrays of plain values, such as tags, contain no records.
    if (!isJsonObject(value) && this.#arrayName !== name) return;
    this.#arrayName ??= name;
    if (name !== this.#arrayName) {
      const quoted = `"${this.#arrayName}" and "${name}"`;
      throw new FileFormatError(
        `the JSON object contains several arrays of objects: ${quoted}`,
        `extract one of them, for example with jq: jq '.${this.#arrayName}' <file> | starpost … -`,
      );
    }
    this.#add(value);
  }

  #add(value: unknown): void {
    this.#elements++;
    this.#bytesSinceRecord = 0;
    if (!isJsonObject(value)) throw this.#refuse("is not an object");
    this.#handler.record(value, this.#shape === "sequence" ? this.#recordLine : this.#elements);
    this.#recordLine = 0;
  }

  #refuse(what: string): FileFormatError {
    const isLine = this.#shape === "sequence";
    const place = isLine ? "the value on this line" : `element ${Math.max(this.#elements, 1)}`;
    const hint = 'each record must be an object, such as {"email": "ada@mail.example"}';
    return new FileFormatError(`${place} ${what}`, hint, isLine ? { line: this.#line } : {});
  }
}

/**
 * Finds the line and column at which a text stops being valid JSON, by parsing it again.
 * @param failed the number of the piece that was not accepted, from 0
 */
function locateError(pieces: Iterable<Buffer>, shape: JsonShape, failed: number): FileFormatError {
  const parser = new RecordParser(shape, { record: () => {} });
  let [line, column] = [1, 1];
  let at = 0;
  for (const piece of pieces) {
    const isFailed = at++ === failed;
    for (let index = 0; index < piece.length; index++) {
      if (isFailed && !isAccepted(parser, piece.subarray(index, index + 1))) {
        return new FileFormatError(
          `this is not valid JSON, at column ${column}`,
          "a JSON file contains an array of objects, or one object per line",
          { line },
        );
      }
      const byte = piece[index] ?? 0;
      if (byte === lineFeed) [line, column] = [line + 1, 1];
      // Continuation bytes of UTF-8 are not characters of their own.
      else if ((byte & 0xc0) !== 0x80) column++;
    }
    if (!isFailed) parser.write(piece);
  }
  return new FileFormatError("this is not valid JSON");
}

function isAccepted(parser: RecordParser, bytes: Buffer): boolean {
  try {
    parser.write(bytes);
    return true;
  } catch {
    return false;
  }
}

/** Property names of an object that is a record itself, and not an envelope around a list of them. */
const idName = /^id$|_id$|Id$/;

/**
 * Recognizes how a JSON text contains its records.
 * Assumed: a single object is an envelope, such as `{"orders": […], "page": 1}`, if it has an array of objects and no ID.
 * @param start the beginning of the text, or all of it
 */
export function recognizeShape(start: Buffer): JsonShape {
  if (/^\s*\[/.test(start.toString("latin1"))) return "array";
  const { first, hasMore } = readFirstValue(start);
  if (first === undefined) return "wrapper";
  return hasMore || !isEnvelope(first) ? "sequence" : "wrapper";
}

/** The first value, if it is complete, and whether another follows. */
function readFirstValue(start: Buffer): { readonly first: unknown; readonly hasMore: boolean } {
  let first: unknown;
  let hasMore = false;
  const tokenizer = new Tokenizer();
  const parser = new TokenParser({ paths: ["$"], separator: "" });
  parser.onValue = ({ value }) => {
    first ??= value;
  };
  tokenizer.onToken = (token) => {
    hasMore ||= first !== undefined;
    if (first === undefined) parser.write(token);
  };
  try {
    tokenizer.write(start);
  } catch {
    // Reading the records reports where the text is invalid; here, what precedes counts.
  }
  return { first, hasMore };
}

function isEnvelope(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const names = Object.keys(value);
  if (names.some((name) => idName.test(name))) return false;
  const members: readonly unknown[] = Object.values(value);
  if (members.length > 0 && members.every((member) => Array.isArray(member))) return true;
  return members.some(
    (member) => Array.isArray(member) && member.some((one) => typeof one === "object" && one !== null),
  );
}
