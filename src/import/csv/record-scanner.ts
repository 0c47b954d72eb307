/** What can be wrong with a record before its fields are looked at. */
export type RecordProblem = "bad_quote" | "nul_byte" | "record_too_long";

/** What the scanner noticed in a record; bits of `ScannedRecords.flags`. */
export const recordFlag = {
  /** A quoted field was opened and not closed as CSV asks; the record is its first line alone. */
  badQuote: 1,
  /** A NUL byte is in it. */
  nul: 2,
  /** Longer than a record may be; the rest of its line follows as further records. */
  tooLong: 4,
  /** A field is quoted, so that a delimiter or a line end may be text. */
  quoted: 8,
} as const;

/** Records of one scanned stretch, as lists that run in parallel. Offsets are bytes into the scanned buffer. */
export interface ScannedRecords {
  readonly starts: number[];
  /** Where each record ends, its line end not included. */
  readonly ends: number[];
  /** The line on which each record starts, from 1. */
  readonly lines: number[];
  readonly flags: number[];
  /** Where the field of the key column starts and ends, quotes included; -1 where a record has none. */
  readonly keyStarts: number[];
  readonly keyEnds: number[];
}

export interface ScannerOptions {
  /** One ASCII byte. */
  readonly delimiter: number;
  /** Lines end in CR alone, as old Macintosh files do. */
  readonly isCrOnly: boolean;
  /** The column whose place in each record is reported, from 0; -1 for none. */
  readonly keyColumn: number;
  /** The line of the first byte, from 1. */
  readonly firstLine: number;
  /** A record longer than this is taken for an unclosed quote; bytes. */
  readonly maxRecordBytes: number;
}

const quote = 34;
const lineFeed = 10;
const carriageReturn = 13;

const scanState = { fieldStart: 0, plain: 1, quoted: 2, quoteInQuoted: 3, restOfLine: 4 } as const;

/**
 * Finds where each CSV record (RFC 4180) starts and ends, its true line and its broken quotes, over UTF-8
 * bytes that arrive in pieces. The fields themselves are csv-parse's work, which so meets whole records only.
 * After a broken quote the scan goes on at the next line: one bad row costs one row.
 */
export class RecordScanner {
  readonly #options: ScannerOptions;
  readonly #lineEnd: number;
  #state: number = scanState.fieldStart;
  /** Into the buffer of the next scan. */
  #position = 0;
  #recordStart = 0;
  #recordLine: number;
  #line: number;
  #column = 0;
  #fieldStart = 0;
  #keyStart = -1;
  #keyEnd = -1;
  #hasNul = false;
  #hasQuotes = false;

  constructor(options: ScannerOptions) {
    this.#options = options;
    this.#lineEnd = options.isCrOnly ? carriageReturn : lineFeed;
    this.#recordLine = options.firstLine;
    this.#line = options.firstLine;
  }

  /**
   * Scans a buffer that begins with what the scan before left over (from its returned `rest`).
   * @returns the records that ended, and from where on the bytes are to be given again
   */
  scan(buffer: Buffer, isLast: boolean): { records: ScannedRecords; rest: number } {
    const records: ScannedRecords = {
      starts: [],
      ends: [],
      lines: [],
      flags: [],
      keyStarts: [],
      keyEnds: [],
    };
    for (;;) {
      this.#advance(buffer, records);
      const isOpen = this.#recordStart < buffer.length;
      const isTooLong = buffer.length - this.#recordStart > this.#options.maxRecordBytes;
      if (!isOpen || !(isLast || isTooLong)) break;
      if (this.#state === scanState.quoted) this.#giveUpOnQuote(buffer, records);
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

  #advance(buffer: Buffer, records: ScannedRecords): void {
    const { delimiter, keyColumn } = this.#options;
    const lineEnd = this.#lineEnd;
    const length = buffer.length;
    let state = this.#state;
    let at = this.#position;
    for (; at < length; at++) {
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
        if (byte === quote) this.#hasQuotes = true;
        state = byte === quote ? scanState.quoted : scanState.plain;
      } else if (state === scanState.quoteInQuoted) {
        if (byte === quote) state = scanState.quoted;
        else if (byte !== carriageReturn || !this.#isLineEndNext(buffer, at)) {
          this.#position = at;
          this.#giveUpOnQuote(buffer, records);
          at = this.#position - 1;
          state = this.#state;
        }
      }
    }
    this.#state = state;
    this.#position = at;
  }

  /** A CR after a closing quote belongs to a CRLF; at the end of the bytes at hand that is not known yet. */
  #isLineEndNext(buffer: Buffer, at: number): boolean {
    return this.#lineEnd === lineFeed && (at + 1 >= buffer.length || buffer[at + 1] === lineFeed);
  }

  #endRecord(buffer: Buffer, end: number, next: number, records: ScannedRecords, flag: number): void {
    if (this.#column === this.#options.keyColumn) {
      this.#keyStart = this.#fieldStart;
      this.#keyEnd = end;
    }
    if (end > this.#recordStart) {
      records.starts.push(this.#recordStart);
      records.ends.push(end);
      records.lines.push(this.#recordLine);
      records.flags.push(
        flag | (this.#hasNul ? recordFlag.nul : 0) | (this.#hasQuotes ? recordFlag.quoted : 0),
      );
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
    this.#hasQuotes = false;
  }

  #endAtBufferEnd(buffer: Buffer, records: ScannedRecords, isLast: boolean): void {
    const isRest = this.#state === scanState.restOfLine;
    const hasReturn = this.#lineEnd === lineFeed && buffer.at(-1) === carriageReturn;
    const flag = (isRest ? recordFlag.badQuote : 0) | (isLast ? 0 : recordFlag.tooLong);
    this.#endRecord(buffer, hasReturn ? buffer.length - 1 : buffer.length, buffer.length, records, flag);
    if (!isLast) this.#state = scanState.restOfLine;
  }

  /** Makes the first line of the open record a record of its own, marked, and goes on after it. */
  #giveUpOnQuote(buffer: Buffer, records: ScannedRecords): void {
    const lineEndAt = buffer.indexOf(this.#lineEnd, this.#recordStart);
    if (lineEndAt < 0 || lineEndAt >= this.#position) {
      // The line goes on past what was scanned: the rest of it belongs to the same bad record.
      this.#state = scanState.restOfLine;
      return;
    }
    this.#line = this.#recordLine + 1;
    const hasReturn = lineEndAt > this.#recordStart && buffer[lineEndAt - 1] === carriageReturn;
    this.#endRecord(
      buffer,
      hasReturn ? lineEndAt - 1 : lineEndAt,
      lineEndAt + 1,
      records,
      recordFlag.badQuote,
    );
  }
}
