import { describe, expect, test } from "vitest";
import { RecordScanner, recordFlag, type ScannerOptions } from "../../../../src/import/csv/record-scanner.ts";

const { badQuote, nul, tooLong } = recordFlag;

type Found = [text: string, line: number, flags: number, key: string | undefined];

/** Scans a text in pieces of this many bytes. */
function scan(text: string, pieceBytes: number, options: Partial<ScannerOptions> = {}): Found[] {
  const scanner = new RecordScanner({
    delimiter: ",".charCodeAt(0),
    isCrOnly: false,
    keyColumn: 1,
    firstLine: 1,
    maxRecordBytes: 1_000,
    ...options,
  });
  const bytes = Buffer.from(text, "latin1");
  const found: Found[] = [];
  let rest = Buffer.alloc(0);
  for (let at = 0; at <= bytes.length; at += pieceBytes) {
    const isLast = at + pieceBytes > bytes.length;
    const buffer = Buffer.concat([rest, bytes.subarray(at, at + pieceBytes)]);
    const { records, rest: from } = scanner.scan(buffer, isLast);
    for (const [index, start] of records.starts.entries()) {
      const keyStart = records.keyStarts[index] ?? -1;
      found.push([
        buffer.toString("latin1", start, records.ends[index]),
        records.lines[index] ?? 0,
        records.flags[index] ?? 0,
        keyStart < 0 ? undefined : buffer.toString("latin1", keyStart, records.keyEnds[index]),
      ]);
    }
    rest = buffer.subarray(from);
  }
  return found;
}

type Case = [name: string, text: string, records: Found[], options?: Partial<ScannerOptions>];

const cases: Case[] = [
  ["nothing", "", []],
  ["blank lines", "\n\r\n\na,b\n\n", [["a,b", 4, 0, "b"]]],
  [
    "lines without a final line break",
    "a,b,c\nd,e",
    [
      ["a,b,c", 1, 0, "b"],
      ["d,e", 2, 0, "e"],
    ],
  ],
  [
    "CRLF",
    "a,b\r\nc\r\n",
    [
      ["a,b", 1, 0, "b"],
      ["c", 2, 0, undefined],
    ],
  ],
  ["a final CR", "a,b\r", [["a,b", 1, 0, "b"]]],
  ["a CR within a line", "a\rb,c\n", [["a\rb,c", 1, 0, "c"]]],
  [
    "the first column as the key",
    "a,b\nc\n",
    [
      ["a,b", 1, 0, "a"],
      ["c", 2, 0, "c"],
    ],
    { keyColumn: 0 },
  ],
  ["no key", "a,b\n", [["a,b", 1, 0, undefined]], { keyColumn: -1 }],
  ["another delimiter and first line", "a;b,c\n", [["a;b,c", 7, 0, "b,c"]], { delimiter: 59, firstLine: 7 }],
  [
    "NUL bytes",
    "a\0,b\nc,\0\nd\n",
    [
      ["a\0,b", 1, nul, "b"],
      ["c,\0", 2, nul, "\0"],
      ["d", 3, 0, undefined],
    ],
  ],
  [
    "quoted cells with delimiters, quotes, and line breaks",
    'a,"b,\r\n""c"""\r\nd,e\n"f"\n',
    [
      ['a,"b,\r\n""c"""', 1, 0, '"b,\r\n""c"""'],
      ["d,e", 3, 0, "e"],
      ['"f"', 4, 0, undefined],
    ],
  ],
  ["a quote within a cell", 'a"b,c"\n', [['a"b,c"', 1, 0, 'c"']]],
  [
    "text after a closing quote",
    'a,"b"c\nd,"e" \r\n"f"\rg\nh\n',
    [
      ['a,"b"c', 1, badQuote, '"b"c'],
      ['d,"e" ', 2, badQuote, '"e" '],
      ['"f"\rg', 3, badQuote, undefined],
      ["h", 4, 0, undefined],
    ],
  ],
  [
    "a NUL byte after a broken quote",
    'a,"b"c\0\nd\n',
    [
      ['a,"b"c\0', 1, badQuote | nul, '"b"c\0'],
      ["d", 2, 0, undefined],
    ],
  ],
  [
    "text after a closing quote on a later line",
    'a,"b\nc"d\r\ne,f\n',
    [
      ['a,"b', 1, badQuote, '"b'],
      ['c"d', 2, 0, undefined],
      ["e,f", 3, 0, "f"],
    ],
  ],
  [
    "an open quote",
    'a,"b\r\nc,d\ne',
    [
      ['a,"b', 1, badQuote, '"b'],
      ["c,d", 2, 0, "d"],
      ["e", 3, 0, undefined],
    ],
  ],
  [
    "an open quote on the last line",
    'a,b\nc,"d',
    [
      ["a,b", 1, 0, "b"],
      ['c,"d', 2, badQuote, '"d'],
    ],
  ],
  [
    "CR only, with LF in cells",
    'a,b\r"c\n",d\re\n,f\r',
    [
      ["a,b", 1, 0, "b"],
      ['"c\n",d', 2, 0, "d"],
      ["e\n,f", 3, 0, "f"],
    ],
    { isCrOnly: true },
  ],
];

describe("records", () => {
  test.each(cases)("%s", (_name, text, records, options = {}) => {
    expect(scan(text, text.length + 1, options)).toEqual(records);
  });

  test.each(cases)("in pieces of any size: %s", (_name, text, records, options = {}) => {
    for (let bytes = 1; bytes <= text.length; bytes++) {
      const found = scan(text, bytes, options);
      // What follows a broken quote depends on where the buffer ends, but no text and no line does.
      expect(
        found.map(([record, line]) => [record, line]),
        `${bytes}`,
      ).toEqual(records.map(([record, line]) => [record, line]));
      if (!text.includes('"')) expect(found).toEqual(records);
    }
  });
});

test("a record that is too long ends at its next line, and its rest is skipped", () => {
  const options = { maxRecordBytes: 10 };
  expect(scan("a,b\nc,ddddddddddddddd,e\nf,g\n", 4, options)).toEqual([
    ["a,b", 1, 0, "b"],
    ["c,dddddddddd", 2, tooLong, "dddddddddd"],
    ["f,g", 3, 0, "g"],
  ]);
  expect(scan("a,ddddddddddddddd", 4, options)).toEqual([["a,dddddddddd", 1, tooLong, "dddddddddd"]]);
  expect(scan('a,"b\nccccccccccccc\nd,e\n', 4, options).map(([text, line, flags]) => [text, line, flags])).toEqual([
    ['a,"b', 1, badQuote],
    ["ccccccccccc", 2, tooLong],
    ["d,e", 3, 0],
  ]);
});
