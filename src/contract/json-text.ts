/**
 * Limits of JSON from outside, which is checked before it is parsed: parsing takes long if a text nests deeply or has many
 * values, even if it is short. The largest regular calls have about 50,000 values.
 */
export const jsonLimits = { depth: 32, values: 200_000 } as const;

/** Why a JSON text is refused. */
export interface JsonProblem {
  /** Continues a sentence that starts with the text: `has an integer that…`. */
  readonly problem: string;
  /** The character, from 1. */
  readonly character: number;
  /** The nearest field name before the position. */
  readonly field?: string | undefined;
}

const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const minus = 0x2d;
const exponent = 0x65;

/** Shorter integers are exact. */
const minRoundedLength = 16;

/**
 * Finds out in one pass, without parsing, whether a JSON text in UTF-8 exceeds `jsonLimits` or has an integer that
 * JavaScript would round. Does not otherwise check the syntax. Takes a tenth of the time of parsing.
 */
export function findJsonProblem(bytes: Buffer): JsonProblem | undefined {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === quote) at = findStringEnd(bytes, at);
    else if (byte === comma) values += 1;
    else if (byte === 0x5b || byte === 0x7b) {
      depth += 1;
      values += 1;
      if (depth > jsonLimits.depth) return locate(bytes, at, `is nested more than ${jsonLimits.depth} levels deep`);
    } else if (byte === 0x5d || byte === 0x7d) depth -= 1;
    else if (byte === minus || isDigit(byte)) {
      const end = findNumberEnd(bytes, at);
      if (isRounded(bytes, at, end)) return describeInteger(bytes, at);
      at = end - 1;
    }
    if (values > jsonLimits.values) return locate(bytes, at, `has more than ${jsonLimits.values} values`);
  }
  return undefined;
}

/**
 * Parses JSON from outside.
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  const found = findJsonProblem(Buffer.from(text));
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
  return { ...locate(bytes, at, problem), field };
}

function locate(bytes: Buffer, at: number, problem: string): JsonProblem {
  return { problem, character: bytes.toString("utf8", 0, at).length + 1 };
}

/** Whether a value is an object of JSON, with named fields. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A value as an object with fields; one without fields unless the value is an object. */
export function asFields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
