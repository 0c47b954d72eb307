import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "csv-stringify/sync";
import * as fc from "fast-check";
import iconv from "iconv-lite";
import { describe, expect, test } from "vitest";
import { readFileHead } from "../../../../src/import/csv/file-format.ts";
import { readRowBatches, type RowBatch } from "../../../../src/import/csv/row-batches.ts";
import { surveyFile } from "../../../../src/import/csv/pre-scan.ts";
import { countRuns, isMutationSuite } from "../../../support/suite-size.ts";
import { useTemporaryFolder } from "../../../support/temporary-folder.ts";

const folder = useTemporaryFolder();

interface Found {
  readonly cells: string[];
  readonly line: number;
  readonly problem: string | undefined;
}

function flatten(batches: Iterable<RowBatch>): Found[] {
  return [...batches].flatMap(({ rows, lines, problems }) =>
    rows.map((cells, at) => ({ cells, line: lines[at] ?? 0, problem: problems.get(at) })),
  );
}

async function readAll(
  content: string | Buffer,
  keyColumn = -1,
): Promise<{ header: readonly string[]; rows: Found[] }> {
  const path = join(folder, "input.csv");
  writeFileSync(path, content);
  const { source, format, header } = readFileHead(path, {});
  const { repeated, records } = await surveyFile(source, format, keyColumn);
  const rows = flatten(readRowBatches(source, format, repeated && { keyColumn, repeated, folder }));
  expect(records).toBe(rows.length);
  return { header, rows };
}

describe("reading rows", () => {
  test("returns every cell and the line number, for any delimiter, line ending, quoting, and encoding", async () => {
    const cell = fc.oneof(
      fc.string(),
      fc.constantFrom("", "a", 'say "hi"', "two\nlines", "semi;colon", "comma,comma", "tab\there", "pipe|", "é😀", '"'),
    );
    const table = fc.array(fc.array(cell, { minLength: 3, maxLength: 3 }), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(
        table,
        fc.constantFrom(",", ";", "\t", "|"),
        fc.constantFrom("\n", "\r\n"),
        fc.constantFrom("utf8", "utf16le", "utf16be"),
        fc.boolean(),
        async (raw, delimiter, lineEnd, encoding, hasBom) => {
          // Excludes NUL bytes and lone surrogates; a record with a single empty cell is a blank line.
          const clean = raw.map((row) =>
            row.map((text) => text.replaceAll("\0", "").replaceAll("\r", "").toWellFormed()),
          );
          const header = ["one", "two", "three"];
          const text = stringify([header, ...clean], { delimiter, record_delimiter: lineEnd, quoted_match: /\n/ });
          const bytes = iconv.encode(text, encoding, { addBOM: hasBom || encoding !== "utf8" });
          const { rows } = await readAll(bytes);
          expect(rows.map(({ cells }) => cells)).toEqual(clean);
          let line = 2;
          for (const [at, row] of clean.entries()) {
            expect(rows[at]?.line).toBe(line);
            line += 1 + row.join("").split("\n").length - 1;
          }
        },
      ),
      { numRuns: countRuns(300) },
    );
  });

  test("a broken quote invalidates one row, with the correct line number", async () => {
    const { rows } = await readAll('id,name\n1,ok\n2,"never closed\n3,"also ""fine"""\n4,"bad"tail\n5,last\n');
    expect(rows.map(({ line, problem, cells }) => [line, problem, cells[0]?.slice(0, 3)])).toEqual([
      [2, undefined, "1"],
      [3, "bad_quote", '2,"'],
      [4, undefined, "3"],
      [5, "bad_quote", '4,"'],
      [6, undefined, "5"],
    ]);
  });

  test("an unclosed quote at the end of the file invalidates only its line", async () => {
    const { rows } = await readAll('id,name\n1,a\n2,"open\n3,b\n4,c');
    expect(rows.map(({ problem, cells }) => problem ?? cells[0])).toEqual(["1", "bad_quote", "3", "4"]);
  });

  test("a line of stray carriage returns is a separate row anywhere in the file", async () => {
    const { rows } = await readAll('id,name\r\n1,a\r\r\n\r\r\n2,"b"\r\n\r\r\n');
    expect(rows.map(({ cells }) => cells)).toEqual([["1", "a\r"], ["\r"], ["2", "b"], ["\r"]]);
  });

  test("only invalid rows have a problem", () => {
    const path = join(folder, "input.csv");
    writeFileSync(path, 'id,name\n1,"a"\n2,"b\n3,c\n4,"\0"\n');
    const { source, format } = readFileHead(path, {});
    const [batch, ...others] = [...readRowBatches(source, format, undefined)];
    expect(others).toEqual([]);
    expect([...(batch?.problems ?? [])]).toEqual([
      [1, "bad_quote"],
      [3, "nul_byte"],
    ]);
  });

  test("a quote inside an unquoted cell is text", async () => {
    const { rows } = await readAll('id,name\n1,5" pipe\n2,b\n');
    expect(rows.map(({ cells }) => cells)).toEqual([
      ["1", '5" pipe'],
      ["2", "b"],
    ]);
  });

  test("CR line endings, and a row with a NUL", async () => {
    const { rows } = await readAll("id,name\r1,a\r2,b\u0000c\r");
    expect(rows.map(({ cells, line, problem }) => [cells[0], line, problem])).toEqual([
      ["1", 2, undefined],
      ["2", 3, "nul_byte"],
    ]);
  });

  test.skipIf(isMutationSuite)("a cell of 10 MB is read completely", async () => {
    const { rows } = await readAll(`id,name\n1,"${"x".repeat(10_000_000)}"\n2,b\n`);
    expect(rows.map(({ cells }) => cells[1]?.length)).toEqual([10_000_000, 1]);
  });

  test.skipIf(isMutationSuite).each([
    ["without quotes", "x".repeat(20_000_000)],
    ["of 40 MB", "x".repeat(40_000_000)],
    ["with an open quote", `"${"x".repeat(20_000_000)}`],
    ["with a long quoted cell", `"${"x".repeat(20_000_000)}"`],
  ])("a row that is too long is one row: %s", async (_name, cell) => {
    const { rows } = await readAll(`id,name\n1,${cell}\n2,b\n`);
    expect(rows.map(({ line, problem }) => [line, problem])).toEqual([
      [2, "record_too_long"],
      [3, undefined],
    ]);
    expect(rows[0]?.cells.join("").length).toBeLessThan(18_000_000);
  });

  test("a row that is too long at the end of the file is one row", async () => {
    const { rows } = await readAll(`id,name\n1,a\n2,${"x".repeat(20_000_000)}`);
    expect(rows.map(({ problem }) => problem)).toEqual([undefined, "record_too_long"]);
  });
});

describe("grouping", () => {
  test("groups rows with the same key at the position of the first, in order", async () => {
    const { rows } = await readAll("order,item\nA,1\nB,1\nA,2\nC,1\nB,2\nA,3\nD,1\n", 0);
    expect(rows.map(({ cells }) => cells.join(""))).toEqual(["A1", "A2", "A3", "B1", "B2", "C1", "D1"]);
    expect(rows.map(({ line }) => line)).toEqual([2, 4, 7, 3, 6, 5, 8]);
  });

  test("neither loses nor duplicates a row, and keeps each key in one group", async () => {
    const keys = fc.array(fc.constantFrom("a", "b", "c", "dd", "", " a", '"', "e f"), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(keys, async (order) => {
        const text = stringify([["key", "n"], ...order.map((key, at) => [key, String(at)])]);
        const { rows } = await readAll(text, 0);
        expect(rows.map(({ cells }) => Number(cells[1])).toSorted((a, b) => a - b)).toEqual(order.map((_, at) => at));
        // A row without a key belongs to no group and splits none.
        const named = rows.map(({ cells }) => cells[0]?.trim()).filter((key) => key !== "");
        const runs = named.filter((key, at) => key !== named[at - 1]);
        expect(new Set(runs).size).toBe(runs.length);
      }),
      { numRuns: countRuns(300) },
    );
  });
});
