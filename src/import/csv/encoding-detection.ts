import { isAscii, isUtf8 } from "node:buffer";
import { readBytes, utf8Mark, type ByteSource } from "./byte-source.ts";

/** The encoding assumed for text that is not UTF-8. */
export const fallbackEncoding = "windows-1252";

/** A detected encoding, and why it was assumed if a byte order mark does not show it. */
export interface EncodingGuess {
  readonly encoding: string;
  readonly assumption?: string;
}

/** Number of bytes searched for NULs. */
const lookBytes = 512;
/** In UTF-16, every second byte of an ASCII letter is NUL: the minimum share and number in a header. */
const minNulShare = 0.15;
const minNuls = 3;
/** Longer lines are checked in parts. */
const maxLineBytes = 16 * 1024 * 1024;
/** How many lines with valid non-ASCII characters per invalid line indicate UTF-8 with errors. */
const maxValidShare = 0.1;

/**
 * Detects the encoding from a text's first bytes: a byte order mark, or NULs in the positions of UTF-16; otherwise
 * UTF-8, which later bytes may disprove.
 * Source: the Unicode standard's byte order marks.
 */
export function guessEncoding(bytes: Buffer): EncodingGuess {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return { encoding: "utf-16le" };
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return { encoding: "utf-16be" };
  const pairs = Math.min(bytes.length, lookBytes) >> 1;
  let [even, odd] = [0, 0];
  for (let at = 0; at < pairs * 2; at += 2) {
    if (bytes[at] === 0) even++;
    if (bytes[at + 1] === 0) odd++;
  }
  const assumption = "UTF-16 without a byte order mark";
  const enough = Math.max(pairs * minNulShare, minNuls);
  if (odd >= enough && even < odd / 10) return { encoding: "utf-16le", assumption };
  if (even >= enough && odd < even / 10) return { encoding: "utf-16be", assumption };
  return { encoding: "utf-8" };
}

/** What is known about a text that is not entirely UTF-8. */
export interface UtfFault {
  /** The first invalid line, from 1. */
  readonly line: number;
  /** Whether the text is nevertheless UTF-8, so that any other encoding would corrupt it. */
  readonly isUtf8Meant: boolean;
  /** Whether its letters make sense in Mac Roman only. */
  readonly isMacRoman?: true;
}

/**
 * Searches a text for lines that are not UTF-8.
 * Assumed: it is meant as UTF-8 if it has that byte order mark, or if, for every ten invalid lines, at least one line
 * has valid non-ASCII characters, which rarely happens by chance.
 */
export function findUtfFault(source: ByteSource, isCrOnly: boolean): UtfFault | undefined {
  const lineEnd = isCrOnly ? 13 : 10;
  let line = 1;
  let faultLine = 0;
  let [valid, invalid] = [0, 0];
  let hasMark: boolean | undefined;
  const letters = new LetterCount();
  for (const bytes of readWholeLines(source, lineEnd)) {
    hasMark ??= bytes.indexOf(utf8Mark) === 0;
    for (let start = 0; start < bytes.length;) {
      const end = bytes.indexOf(lineEnd, start) + 1 || bytes.length;
      const text = bytes.subarray(start, end);
      if (!isUtf8(text)) {
        invalid++;
        letters.add(text);
        faultLine ||= line;
      } else if (!isAscii(text)) valid++;
      if (text.at(-1) === lineEnd) line++;
      start = end;
    }
  }
  if (faultLine === 0) return undefined;
  const isUtf8Meant = hasMark === true || valid > invalid * maxValidShare;
  return { line: faultLine, isUtf8Meant, ...(letters.isMacRoman && { isMacRoman: true }) };
}

/**
 * Bytes that are letters in Mac Roman (á à â ä ç é è ê ò ù ü), but capitals or no letters in windows-1252; and bytes
 * that are letters in windows-1252 (0xDF to 0xFF) or in DOS code pages, but capitals or no letters in Mac Roman.
 */
const macLetters = new Set([0x87, 0x88, 0x89, 0x8a, 0x8d, 0x8e, 0x8f, 0x90, 0x98, 0x9d, 0x9f]);
const dosLetters = new Set([0x81, 0x82, 0x84]);

/** The minimum share of such letters in all non-ASCII bytes, which texts in Asian encodings do not reach. */
const minMacShare = 0.2;

/** Counts letters between an ASCII letter and a lowercase one, where no other character is likely. */
class LetterCount {
  #all = 0;
  #mac = 0;
  #other = 0;

  add(text: Buffer): void {
    for (const [at, byte] of text.entries()) {
      if (byte < 0x80) continue;
      this.#all++;
      if (!isLetter(text[at - 1]) || !isLowercase(text[at + 1])) continue;
      if (macLetters.has(byte)) this.#mac++;
      else if (byte >= 0xdf || dosLetters.has(byte)) this.#other++;
    }
  }

  get isMacRoman(): boolean {
    return this.#mac > this.#other && this.#mac >= this.#all * minMacShare;
  }
}

function isLetter(byte = 0): boolean {
  return isLowercase(byte | 32);
}

function isLowercase(byte = 0): boolean {
  return byte >= 97 && byte <= 122;
}

function* readWholeLines(source: ByteSource, lineEnd: number): Generator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for (const piece of readBytes(source)) {
    const end = piece.lastIndexOf(lineEnd) + 1;
    if (end > 0) yield Buffer.concat([rest, piece.subarray(0, end)]);
    rest = end > 0 ? Buffer.from(piece.subarray(end)) : Buffer.concat([rest, piece]);
    if (rest.length > maxLineBytes) {
      yield rest;
      rest = Buffer.alloc(0);
    }
  }
  if (rest.length > 0) yield rest;
}
