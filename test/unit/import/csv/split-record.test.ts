import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openSource } from "../../../../src/import/csv/byte-source.ts";
import { readRecordBlocks } from "../../../../src/import/csv/record-blocks.ts";
import { recordFlag } from "../../../../src/import/csv/record-scanner.ts";
import { readRowBatches } from "../../../../src/import/csv/row-batches.ts";
import { splitRecord } from "../../../../src/import/csv/split-record.ts";
import { countRuns } from "../../../support/suite-size.ts";
import { useTemporaryFolder } from "../../../support/temporary-folder.ts";

const folder = useTemporaryFolder();

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
    ['"a",\r', ["a", "\r"]],
    ['\n,"a"', ["\n", "a"]],
  ])("%j", (text, cells) => {
    expect(splitRecord(text, ",")).toEqual(cells);
  });

  test("uses the delimiter", () => {
    expect(splitRecord('a;"b;c";d,e', ";")).toEqual(["a", "b;c", "d,e"]);
  });
});

/** The rows that the scanner and the package read from a file below its header. */
function readRows(content: string | Buffer, delimiter: string, isCrOnly: boolean) {
  const path = join(folder, "random.csv");
  writeFileSync(path, content);
  return [...readRowBatches(openSource(path), { encoding: "utf-8", delimiter, isCrOnly }, undefined)].flatMap(
    ({ rows, lines, problems }) => rows.map((cells, at) => [lines[at], problems.get(at), cells] as const),
  );
}

test("a valid file is read as csv-parse reads it", () => {
  const text = fc.array(fc.constantFrom("a", "é😀", " ", "\t", "\0", "\uFEFF", "\u2028"), { maxLength: 4 });
  const special = fc.constantFrom(",", ";", '""', "\n", "\r\n", "\r", "\n\n");
  const quoted = fc.array(
    fc.oneof(
      text.map((parts) => parts.join("")),
      special,
    ),
    { maxLength: 4 },
  );
  const cell = fc.oneof(
    text.map((parts) => parts.join("")),
    fc.constantFrom('5" pipe', ' "x"', 'y""'),
    quoted.map((parts) => `"${parts.join("")}"`),
  );
  const record = fc.array(cell, { minLength: 2, maxLength: 5 });
  const property = fc.property(
    fc.array(record, { maxLength: 40 }),
    fc.constantFrom(",", ";"),
    fc.constantFrom("\n", "\r\n", "\r"),
    fc.boolean(),
    (records, delimiter, lineEnd, isEnded) => {
      const lines = ["id", ...records.map((cells) => cells.join(delimiter))];
      const content = lines.join(lineEnd) + (isEnded ? lineEnd : "");
      const options = { delimiter, record_delimiter: lineEnd, relax_quotes: true, relax_column_count: true };
      const read = readRows(content, delimiter, lineEnd === "\r").map(([, , cells]) => cells);
      expect(read).toEqual(parse(content, { ...options, from: 2 }));
    },
  );
  fc.assert(property, { numRuns: countRuns(300) });
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
        const content = Buffer.concat([Buffer.from(`id${isCrOnly ? "\r" : "\n"}`), ...found]);
        const read = readRows(content, delimiter, isCrOnly);
        const format = { encoding: "utf-8", delimiter, isCrOnly };
        const expected: unknown[] = [];
        for (const { bytes: block, records } of readRecordBlocks(openSource(join(folder, "random.csv")), format, -1)) {
          for (const [at, flag] of records.flags.entries()) {
            const text = block.toString("utf8", records.starts[at], records.ends[at]);
            const isBroken = (flag & recordFlag.badQuote) !== 0;
            const problem = isBroken ? "bad_quote" : (flag & recordFlag.nul) !== 0 ? "nul_byte" : undefined;
            expected.push([records.lines[at], problem, isBroken ? [text] : readWithCsvParse(text, delimiter)]);
          }
        }
        expect(read).toEqual(expected);
      },
    );
    fc.assert(property, { numRuns: countRuns(200) });
  });
});
