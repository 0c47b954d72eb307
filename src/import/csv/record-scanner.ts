/** What can be wrong with a record before its fields are read. */
export type RecordProblem = "bad_quote" | "nul_byte" | "record_too_long";

/** What the scanner found in a record; bits of `ScannedRecords.flags`. */
export const recordFlag = {
  /** A quoted field is not closed correctly; the record is only its first line. */
  badQuote: 1,
  /** It contains a NUL byte. */
  nul: 2,
  /** It exceeds the maximum length; the rest of its line is skipped. */
  tooLong: 4,
} as const;

/** The records of one scan, as parallel lists. Offsets are bytes in the scanned buffer. */
export interface ScannedRecords {
  readonly starts: number[];
  /** Where each record ends, without its line break. */
  readonly ends: number[];
  /** The line on which each record starts, from 1. */
  readonly lines: number[];
  readonly flags: number[];
  /** The range of the key column's field, quotes included; -1 if a record has none. */
  readonly keyStarts: number[];
  readonly keyEnds: number[];
}

export interface ScannerOptions {
  /** One ASCII byte. */
  readonly delimiter: number;
  /** Lines end in CR only, as in old Macintosh files. */
  readonly isCrOnly: boolean;
  /** The column whose range is reported, from 0; -1 for none. */
  readonly keyColumn: number;
  /** The line of the first byte, from 1. */
  readonly firstLine: number;
  /** The maximum length of a record, in bytes; a longer one is considered an unclosed quote. */
  readonly maxRecordBytes: number;
}

const quote = 34;
const lineFeed = 10;
const carriageReturn = 13;

const scanState = { fieldStart: 0, plain: 1, quoted: 2, quoteInQuoted: 3, restOfLine: 4 } as const;

/**
 * Finds the boundaries, line numbers, and broken quotes of CSV records (RFC 4180) in UTF-8 bytes that arrive in pieces.
 * Fields are therefore read of complete records only. After a broken quote, scanning continues at the next line: one
 * invalid row costs one row.
 */
export class RecordScanner {
  readonly #options: ScannerOptions;
  readonly #lineEnd: number;
  /** By byte: 1 if it may have a meaning, 0 if it is only text. */
  readonly #meanings = new Uint8Array(256);
  #state: number = scanState.fieldStart;
  /** Offset in the buffer of the next scan. */
  #position = 0;
  #recordStart = 0;
  #recordLine: number;
  #line: number;
  #column = 0;
  #fieldStart = 0;
  #keyStart = -1;
  #keyEnd = -1;
  #hasNul = false;
  /** Whether the bytes up to the next line end belong to a record that was too long and has been reported. */
  #isRest = false;

  constructor(options: ScannerOptions) {
    this.#options = options;
    this.#lineEnd = options.isCrOnly ? carriageReturn : lineFeed;
    this.#recordLine = options.firstLine;
    this.#line = options.firstLine;
    for (const byte of [0, quote, lineFeed, carriageReturn, options.delimiter]) this.#meanings[byte] = 1;
  }

  /**
   * Scans a buffer that begins with what the previous scan left over (from its returned `rest`).
   * @returns the complete records, and the offset from which the bytes must be passed again
   */
  scan(buffer: Buffer, isLast: boolean): { records: ScannedRecords; rest: number } {
    const records: ScannedRecords = { starts: [], ends: [], lines: [], flags: [], keyStarts: [], keyEnds: [] };
    for (;;) {
      this.#advance(buffer, records);
      const isOpen = this.#recordStart < buffer.length;
      const isTooLong = buffer.length - this.#recordStart > this.#options.maxRecordBytes;
      if (!isOpen || !(isLast || isTooLong)) break;
      if (this.#state === scanState.quoted) this.#endAtBrokenQuote(buffer, records);
      else this.#endAtBufferEnd(buffer, records, isLast);
    }
    const rest = this.#recordStart;
    this.#position -= rest;
    this.#fieldStart -= rest;
    if (this.#keyStart >= 0) {
      this.#keyStart -= rest;
      this.#keyEnd -= rest;
    }
    this.#recordStart = 0;
    return { records, rest };
  }

  // oxlint-disable-next-line complexity -- one loop over the bytes of all files: calls would cost more than they clarify
  #advance(buffer: Buffer, records: ScannedRecords): void {
    const { delimiter, keyColumn } = this.#options;
    const lineEnd = this.#lineEnd;
    const meanings = this.#meanings;
    const length = buffer.length;
    let state = this.#state;
    let at = this.#position;
    for (; at < length; at++) {
      // Most bytes are the text of a field.
      if (state !== scanState.quoteInQuoted && meanings[buffer[at] ?? 0] === 0) {
        if (state === scanState.fieldStart) state = scanState.plain;
        do at++;
        while (at < length && meanings[buffer[at] ?? 0] === 0);
        if (at === length) break;
      }
      const byte = buffer[at];
      if (byte === 0) this.#hasNul = true;
      if (state === scanState.quoted) {
        if (byte === quote) state = scanState.quoteInQuoted;
        else if (byte === lineEnd) this.#line++;
        continue;
      }
      if (byte === lineEnd) {
        this.#line++;
        const hasReturn = lineEnd === lineFeed && at > this.#recordStart && buffer[at - 1] === carriageReturn;
        const flag = state === scanState.restOfLine ? recordFlag.badQuote : 0;
        this.#endRecord(buffer, hasReturn ? at - 1 : at, at + 1, records, flag);
        state = scanState.fieldStart;
        continue;
      }
      if (state === scanState.restOfLine) continue;
      if (byte === delimiter) {
        if (this.#column === keyColumn) {
          this.#keyStart = this.#fieldStart;
          this.#keyEnd = at;
        }
        this.#column++;
        this.#fieldStart = at + 1;
        state = scanState.fieldStart;
      } else if (state === scanState.fieldStart) {
        state = byte === quote ? scanState.quoted : scanState.plain;
      } else if (state === scanState.quoteInQuoted) {
        if (byte === quote) state = scanState.quoted;
        else if (byte !== carriageReturn || !this.#isLineEndNext(buffer, at)) {
          this.#position = at;
          this.#endAtBrokenQuote(buffer, records);
          at = this.#position - 1;
          state = this.#state;
        }
      }
    }
    this.#state = state;
    this.#position = at;
  }

  /** A CR after a closing quote belongs to a CRLF, which the end of the buffer may hide. */
  #isLineEndNext(buffer: Buffer, at: number): boolean {
    return this.#lineEnd === lineFeed && (at + 1 >= buffer.length || buffer[at + 1] === lineFeed);
  }

  #endRecord(buffer: Buffer, end: number, next: number, records: ScannedRecords, flag: number): void {
    if (this.#column === this.#options.keyColumn) {
      this.#keyStart = this.#fieldStart;
      this.#keyEnd = end;
    }
    if (end > this.#recordStart && !this.#isRest) {
      records.starts.push(this.#recordStart);
      records.ends.push(end);
      records.lines.push(this.#recordLine);
      records.flags.push(flag | (this.#hasNul ? recordFlag.nul : 0));
      records.keyStarts.push(this.#keyStart);
      records.keyEnds.push(this.#keyEnd);
    }
    this.#recordStart = Math.min(next, buffer.length);
    this.#position = this.#recordStart;
    this.#fieldStart = this.#recordStart;
    this.#recordLine = this.#line;
    this.#state = scanState.fieldStart;
    this.#column = 0;
    this.#keyStart = -1;
    this.#keyEnd = -1;
    this.#hasNul = false;
    this.#isRest = false;
  }

  #endAtBufferEnd(buffer: Buffer, records: ScannedRecords, isLast: boolean): void {
    const isRest = this.#state === scanState.restOfLine;
    const hasReturn = this.#lineEnd === lineFeed && buffer.at(-1) === carriageReturn;
    const flag = (isRest ? recordFlag.badQuote : 0) | (isLast ? 0 : recordFlag.tooLong);
    this.#endRecord(buffer, hasReturn ? buffer.length - 1 : buffer.length, buffer.length, records, flag);
    if (isLast) return;
    this.#state = scanState.restOfLine;
    this.#isRest = true;
  }

  /** Marks the first line of the open record as a broken record and continues after it. */
  #endAtBrokenQuote(buffer: Buffer, records: ScannedRecords): void {
    const lineEndAt = buffer.indexOf(this.#lineEnd, this.#recordStart);
    if (lineEndAt < 0 || lineEndAt >= this.#position) {
      // The line continues beyond the buffer; its rest belongs to the same broken record.
      this.#state = scanState.restOfLine;
      return;
    }
    this.#line = this.#recordLine + 1;
    const hasReturn = buffer[lineEndAt - 1] === carriageReturn;
    this.#endRecord(buffer, hasReturn ? lineEndAt - 1 : lineEndAt, lineEndAt + 1, records, recordFlag.badQuote);
  }
}
