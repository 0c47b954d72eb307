import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import * as fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { openSource } from "../../../../src/import/csv/byte-source.ts";
import { readRecordBlocks } from "../../../../src/import/csv/record-blocks.ts";
import { recordFlag } from "../../../../src/import/csv/record-scanner.ts";
import { readRowBatches } from "../../../../src/import/csv/row-batches.ts";
import { splitRecord } from "../../../../src/import/csv/split-record.ts";
import { countRuns } from "../../../support/suite-size.ts";

const folder = mkdtempSync(join(tmpdir(), "starpost-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Reads one record; no record contains the record delimiter, so that line breaks stay what they are. */
function readWithCsvParse(record: string, delimiter: string): string[] | undefined {
  return parse(record, { delimiter, relax_quotes: true, relax_column_count: true, record_delimiter: "\u2028" })[0];
}

describe("splitting a record", () => {
  test.each([
    ["", [""]],
    ["a", ["a"]],
    ["a,b", ["a", "b"]],
    [",", ["", ""]],
    ["a,", ["a", ""]],
    [",b", ["", "b"]],
    ['""', [""]],
    ['"a"', ["a"]],
    ['"a",', ["a", ""]],
    ['"","b"', ["", "b"]],
    ['a,"b,c",d', ["a", "b,c", "d"]],
    ['"a""b",c', ['a"b', "c"]],
    ['""""', ['"']],
    ['"""""",x', ['""', "x"]],
    ['"a\r\nb",c', ["a\r\nb", "c"]],
    ['a"b,"c"', ['a"b', "c"]],
    [' "a",b', [' "a"', "b"]],
  ])("%j", (text, cells) => {
    expect(splitRecord(text, ",")).toEqual(cells);
    if (text !== "") expect(readWithCsvParse(text, ",")).toEqual(cells);
  });

  test("uses the delimiter", () => {
    expect(splitRecord('a;"b;c";d,e', ";")).toEqual(["a", "b;c", "d,e"]);
  });

  test.each(['"a', 'x,"', '"a""', '"a"b', '"a" ,b'])("refuses %j, which the scanner never passes on", (text) => {
    expect(() => splitRecord(text, ",")).toThrow(Error);
  });
});

describe("files of random bytes", () => {
  const pieces = [
    '"',
    '""',
    '","',
    ",",
    ";",
    "\n",
    "\r\n",
    "\r",
    "a",
    "b c",
    "é",
    "😀",
    "\0",
    "\uFEFF",
    '"x,y"',
    '"x\ny",',
    " ",
  ];
  const piece = fc.constantFrom(...pieces);
  const bytes = fc.oneof(
    piece.map((text) => Buffer.from(text)),
    fc.constantFrom(Buffer.from([0xff]), Buffer.from([0xc3]), Buffer.from([0xe2, 0x82])),
  );

  test("are read as csv-parse reads each of their valid records", () => {
    const property = fc.property(
      fc.array(bytes, { maxLength: 60 }),
      fc.constantFrom(",", ";"),
      fc.boolean(),
      (found, delimiter, isCrOnly) => {
        const path = join(folder, "random.csv");
        const lineEnd = isCrOnly ? "\r" : "\n";
        writeFileSync(path, Buffer.concat([Buffer.from(`id${lineEnd}`), ...found]));
        const format = { encoding: "utf-8", delimiter, isCrOnly };
        const expected: unknown[] = [];
        for (const { bytes: block, records } of readRecordBlocks(openSource(path), format, -1)) {
          for (const [at, flag] of records.flags.entries()) {
            const text = block.toString("utf8", records.starts[at], records.ends[at]);
            const isBroken = (flag & recordFlag.badQuote) !== 0;
            const problem = isBroken ? "bad_quote" : (flag & recordFlag.nul) !== 0 ? "nul_byte" : undefined;
            expected.push([records.lines[at], problem, isBroken ? [text] : readWithCsvParse(text, delimiter)]);
          }
        }
        const read = [...readRowBatches(openSource(path), format, undefined)].flatMap(({ rows, lines, problems }) =>
          rows.map((cells, at) => [lines[at], problems.get(at), cells]),
        );
        expect(read).toEqual(expected);
      },
    );
    fc.assert(property, { numRuns: countRuns(200) });
  });
});
