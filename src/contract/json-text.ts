/** Limits of JSON from outside, which is checked before it is parsed. */
export interface JsonLimits {
  readonly depth: number;
  readonly values: number;
  /** Different names of fields in the whole text, and thus the largest number of fields of an object. */
  readonly names: number;
}

/**
 * Parsing takes long if a text nests deeply or has many values or names, even if it is short. The largest regular calls
 * have 5,000 units of orders, each with a name of its own: the ID of its product. Calls that need no token have at most
 * about 100 names.
 */
export const jsonLimits = {
  withToken: { depth: 32, values: 200_000, names: 12_000 },
  open: { depth: 32, values: 10_000, names: 1_000 },
} as const satisfies Readonly<Record<string, JsonLimits>>;

/** Why a JSON text is refused. */
export interface JsonProblem {
  /** Whether the text exceeds a limit. Otherwise, it has an integer that JavaScript would round. */
  readonly isTooComplex: boolean;
  /** Continues a sentence that starts with the text: `has an integer that…`. */
  readonly problem: string;
  /** The character, from 1. */
  readonly character: number;
  /** The nearest field name before the position. */
  readonly field?: string | undefined;
}

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const backslash = 0x5c;
const minus = 0x2d;
const exponent = 0x65;

/** Longer strings are searched with one native call. */
const longFrom = 1_024;

/** Shorter integers are exact. */
const minRoundedLength = 16;

/**
 * Finds out in one pass, without parsing, whether a JSON text in UTF-8 exceeds limits or has an integer that JavaScript
 * would round. Does not otherwise check the syntax. Takes a third of the time of parsing.
 */
export function findJsonProblem(bytes: Buffer, limits: JsonLimits = jsonLimits.withToken): JsonProblem | undefined {
  const names = new Names(bytes);
  let [depth, values, string, end] = [0, 1, 0, 0];
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === quote) {
      string = at;
      at = end = findStringEnd(bytes, at);
    } else if (byte === colon) names.add(string, end);
    else if (byte === comma) values += 1;
    else if (byte === 0x5b || byte === 0x7b) {
      depth += 1;
      values += 1;
    } else if (byte === 0x5d || byte === 0x7d) depth -= 1;
    else if (byte === minus || isDigit(byte)) {
      const numberEnd = findNumberEnd(bytes, at);
      if (isRounded(bytes, at, numberEnd)) return describeInteger(bytes, at);
      at = numberEnd - 1;
    }
    if (depth <= limits.depth && values <= limits.values && names.size <= limits.names) continue;
    return describeExcess(limits, { depth, values, names: names.size }, locate(bytes, at));
  }
  return undefined;
}

function describeExcess(limits: JsonLimits, found: JsonLimits, character: number): JsonProblem {
  const problem =
    found.depth > limits.depth
      ? `is nested more than ${limits.depth} levels deep`
      : found.values > limits.values
        ? `has more than ${limits.values} values`
        : `has more than ${limits.names} different field names`;
  return { isTooComplex: true, problem, character };
}

/** How many names are compared with an earlier one at first: more than records have fields. */
const recentNames = 1_024;

/** The different names in a text. */
class Names {
  readonly #bytes: Buffer;
  readonly #found = new Set<string>();
  /** By hash, where the text has a name that was found. Most names are one of these, so that no string is created. */
  readonly #recent = new Int32Array(recentNames);

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get size(): number {
    return this.#found.size;
  }

  /** Adds the string between two quotation marks. */
  add(start: number, end: number): void {
    const bytes = this.#bytes;
    let hash = 0;
    for (let at = start + 1; at < end; at += 1) hash = (Math.imul(hash, 31) + (bytes[at] ?? 0)) | 0;
    const slot = hash & (recentNames - 1);
    let at = 0;
    const recent = this.#recent[slot] ?? 0;
    while (start + at <= end && bytes[recent + at] === bytes[start + at]) at += 1;
    if (start + at > end) return;
    this.#recent[slot] = start;
    this.#found.add(bytes.toString("latin1", start + 1, end));
  }
}

/**
 * Parses JSON from outside.
 * @throws SyntaxError
 */
export function parseJson(text: string, limits: JsonLimits): unknown {
  const found = findJsonProblem(Buffer.from(text), limits);
  if (found) throw new SyntaxError(`the JSON ${found.problem} (at character ${found.character})`);
  return JSON.parse(text);
}

/** The position of the closing quotation mark, or the end of the text. */
function findStringEnd(bytes: Buffer, start: number): number {
  let at = start + 1;
  for (; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) return at;
    if (byte === backslash) at += 1;
    else if (at - start === longFrom) {
      // A photo has no escape sequences. Tried once per string, so that the time stays linear.
      const end = bytes.indexOf(quote, at);
      if (end < 0 || !bytes.subarray(at, end).includes(backslash)) return end < 0 ? bytes.length : end;
    }
  }
  return at;
}

function findNumberEnd(bytes: Buffer, start: number): number {
  let at = start + 1;
  while (at < bytes.length && isInNumber(bytes[at] ?? 0)) at += 1;
  return at;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

/** Digits, `+`, `-`, `.`, `e`, and `E`. */
function isInNumber(byte: number): boolean {
  return isDigit(byte) || byte === 0x2b || byte === minus || byte === 0x2e || isExponent(byte);
}

/**
 * Whether a number is an integer, written in any way, that is rounded or infinite. Rounded fractions are accepted.
 * An integer with an exponent may be shorter.
 */
function isRounded(bytes: Buffer, start: number, end: number): boolean {
  if (end - start < minRoundedLength && !bytes.subarray(start, end).some(isExponent)) return false;
  const value = Number(bytes.toString("latin1", start, end));
  return Math.abs(value) === Infinity || (Number.isInteger(value) && !Number.isSafeInteger(value));
}

function isExponent(byte: number): boolean {
  return (byte | 0x20) === exponent;
}

function describeInteger(bytes: Buffer, at: number): JsonProblem {
  const before = bytes.toString("utf8", Math.max(0, at - 1_000), at);
  const field = /"([^"\\]*)"\s*:[^:"{}]*$/.exec(before)?.[1];
  const where = field === undefined ? "" : ` in ${JSON.stringify(field)}`;
  const problem = `has an integer${where} beyond ±${Number.MAX_SAFE_INTEGER}, which would be rounded; send it as a string`;
  return { isTooComplex: false, problem, character: locate(bytes, at), field };
}

/** The number of a byte's character, from 1. */
function locate(bytes: Buffer, at: number): number {
  return bytes.toString("utf8", 0, at).length + 1;
}

/** Whether a value is an object of JSON, with named fields. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A value as an object with fields; one without fields unless the value is an object. */
export function asFields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
