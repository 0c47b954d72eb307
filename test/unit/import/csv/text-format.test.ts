import { describe, expect, test } from "vitest";
import { guessEncoding } from "../../../../src/import/csv/encoding-detection.ts";
import { guessDelimiter, hasCrOnly, readFirstRecords, readSepLine } from "../../../../src/import/csv/text-format.ts";

describe("the encoding shown by the first bytes", () => {
  const encodingOf = (bytes: readonly number[]) => {
    const { encoding, assumption } = guessEncoding(Buffer.from(bytes));
    return [encoding, assumption !== undefined];
  };
  /** Pairs of bytes, of which the first ones have a NUL in the given position. */
  const pairs = (count: number, nuls: number, at: 0 | 1) =>
    Array.from({ length: count }, (_, pair) => (pair < nuls ? (at === 0 ? [0, 97] : [97, 0]) : [97, 97])).flat();

  test.each<[string, readonly number[], string, boolean]>([
    ["nothing", [], "utf-8", false],
    ["the mark of UTF-16LE", [0xff, 0xfe, 97, 97], "utf-16le", false],
    ["the mark of UTF-16BE", [0xfe, 0xff, 97, 97], "utf-16be", false],
    ["half a mark", [0xff, 97], "utf-8", false],
    ["half a mark, reversed", [0xfe, 97], "utf-8", false],
    ["the second half of a mark", [97, 0xfe], "utf-8", false],
    ["three NULs after letters", pairs(3, 3, 1), "utf-16le", true],
    ["three NULs before letters", pairs(3, 3, 0), "utf-16be", true],
    ["two NULs", pairs(2, 2, 1), "utf-8", false],
    ["two NULs before letters", pairs(2, 2, 0), "utf-8", false],
    ["NULs in 15% of the pairs", pairs(100, 15, 1), "utf-16le", true],
    ["NULs before letters in 15% of the pairs", pairs(100, 15, 0), "utf-16be", true],
    ["NULs in 14% of the pairs", pairs(100, 14, 1), "utf-8", false],
    ["NULs in both positions", [...pairs(10, 10, 1), ...pairs(1, 1, 0)], "utf-8", false],
    ["NULs mostly after letters", [...pairs(11, 11, 1), ...pairs(1, 1, 0)], "utf-16le", true],
    ["NULs mostly before letters", [...pairs(11, 11, 0), ...pairs(1, 1, 1)], "utf-16be", true],
    ["NULs as often before letters", [...pairs(10, 10, 0), ...pairs(1, 1, 1)], "utf-8", false],
    ["NULs after the part that is searched", [...pairs(256, 0, 1), ...pairs(500, 500, 1)], "utf-8", false],
    ["NULs in the part that is searched", [...pairs(253, 40, 1), ...pairs(500, 0, 1)], "utf-16le", true],
    ["an incomplete pair", [...pairs(3, 3, 1), 97], "utf-16le", true],
  ])("%s", (_what, bytes, encoding, isAssumed) => {
    expect(encodingOf(bytes)).toEqual([encoding, isAssumed]);
  });
});

test.each([
  ["a,b", false],
  ["a,b\n", false],
  ["a,b\r\n1,2\r\n", false],
  ["a,b\r1,2\r", true],
  ["a,b\r1,2", true],
  ['a,"b\n"\r1,2\r', true],
  ['a,"b\r"\n1,2\n', false],
  ["a,b\r\r\n1,2\r\n", false],
  ["a,b\r\r1\r", true],
  // With LF outside quotes, as an unclosed quote shows them, there must be three lone CRs.
  ["a,b\r1,2\r3,4\n", false],
  ["a,b\r1,2\r3,4\r5\n", true],
  ["a,b\r1\r\n2\r\n3\r\n", false],
])("the lines of %j end in CR only: %s", (text, expected) => {
  expect(hasCrOnly(text)).toBe(expected);
});

describe("the delimiter", () => {
  const guess = (text: string, isWhole = true) => guessDelimiter({ text, isCrOnly: false, isWhole });
  test.each([
    ["", ","],
    ["a\n", ","],
    ["a;b", ";"],
    ['"a;b"\t"c;d"', "\t"],
    ["\n\na|b\n", "|"],
    // The one that splits most rows into as many cells as the header, then the one with the most columns.
    ["a,b;c\n1,2\n3,4\n5;6\n", ","],
    ["a,b;c\n1;2\n3;4\n5,6\n", ";"],
    ["a,b;c;d\n", ";"],
    ["a,b,c;d\n", ","],
    ["a;b,c\n1;2,3\n", ","],
    ["a|b,c\n1,2|3\n", ","],
  ])("of %j is %j", (text, delimiter) => {
    expect(guess(text)).toBe(delimiter);
  });

  test("is judged by fifty records", () => {
    const header = "a,b;c\n";
    expect(guess(header + "1,2\n".repeat(24) + "1;2\n".repeat(25) + "1,2\n".repeat(100))).toBe(";");
    expect(guess(header + "1,2\n".repeat(25) + "1;2\n".repeat(24) + "1;2\n".repeat(100))).toBe(",");
  });

  test("is not judged by an incomplete record", () => {
    expect(guess("a,b;c\n1;2\n3,4", true)).toBe(",");
    expect(guess("a,b;c\n1;2\n3,4", false)).toBe(";");
  });
});

test.each([
  ["sep=;\n", ";", 6],
  ['"sep=|"\r\nid', "|", 9],
  ["Sep=\t\rid", "\t", 6],
  ["sep=a\n", undefined, undefined],
  ["sep=1\n", undefined, undefined],
  ['sep="\n', undefined, undefined],
  ["sep=é\n", undefined, undefined],
  ["sep=;", undefined, undefined],
  [" sep=;\n", undefined, undefined],
])("the first line of %j declares the delimiter %j", (text, delimiter, length) => {
  expect(readSepLine(text)).toEqual(delimiter === undefined ? undefined : { delimiter, length });
});

test("the first records are the complete ones; those with a broken quote have no cells", () => {
  const read = (text: string, most: number, more: object = {}) =>
    readFirstRecords({ text, isCrOnly: false, isWhole: true, ...more }, ",", most).map(({ cells }) => cells);
  expect(read('a,"é\n"\nb\n\nc', 9)).toEqual([["a", "é\n"], ["b"], ["c"]]);
  expect(read("a\nb\nc", 2)).toEqual([["a"], ["b"]]);
  expect(read("a\nb\nc", 9, { isWhole: false })).toEqual([["a"], ["b"]]);
  expect(read('a\n"b"c\nd', 2)).toEqual([["a"], []]);
  expect(read("a\nb\rc\r", 9, { isCrOnly: true })).toEqual([["a\nb"], ["c"]]);
});

test.each([
  ["a\n\nb\n", [1, 3]],
  ["\r\n\r\na\r\nb\r\n", [3, 4]],
  ['"a\n\n"\nb\n\n"c\nd"\ne', [1, 2, 4, 5]],
  ['"a"x\nb\n', [1, 2]],
  [",\n \nb", [1, 2, 3]],
])("the rows of %j are numbered as a spreadsheet program numbers them", (text, numbers) => {
  const records = readFirstRecords({ text, isCrOnly: false, isWhole: true }, ",", 9);
  expect(records.map(({ row }) => row)).toEqual(numbers);
  const carriageReturns = text.replaceAll(/\r?\n/g, "\r");
  const others = readFirstRecords({ text: carriageReturns, isCrOnly: true, isWhole: true }, ",", 9);
  expect(others.map(({ row }) => row)).toEqual(numbers);
});
