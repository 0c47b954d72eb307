import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readFileHead } from "../../../../../src/import/csv/file-format.ts";
import { readRowBatches } from "../../../../../src/import/csv/row-batches.ts";
import type { ImportEvent } from "../../../../../src/import/events.ts";
import { FileFormatError } from "../../../../../src/import/import-error.ts";
import { convertFile } from "../../../../../src/import/source/conversion/convert.ts";
import { makeGzip } from "../../../../support/archives.ts";
import { useTemporaryFolder } from "../../../../support/temporary-folder.ts";

const folder = useTemporaryFolder();

const path = join(folder, "input");
const copy = join(folder, "table.csv");
const deps = { abort: new AbortController().signal, report: () => {} };

async function convert(content: string | Buffer, encoding?: string) {
  writeFileSync(path, content);
  rmSync(copy, { force: true });
  return convertFile({ given: "input", path, copy }, { encoding }, deps);
}

/** Header, rows by number, and format of a converted file, as the import reads them. */
async function read(content: string | Buffer, encoding?: string) {
  const known = await convert(content, encoding);
  if (!known) throw new Error("not converted");
  const head = readFileHead(copy, { known });
  const rows: [number, string[]][] = [];
  for (const batch of readRowBatches(head.source, head.format, undefined)) {
    for (const [at, cells] of batch.rows.entries()) rows.push([batch.lines[at] ?? 0, cells]);
  }
  return { header: head.header, rows, origin: known.origin };
}

async function errorOf(content: string | Buffer): Promise<FileFormatError> {
  const error: unknown = await convert(content).catch((thrown: unknown) => thrown);
  if (!(error instanceof FileFormatError)) throw new Error(`no FileFormatError but ${String(error)}`);
  expect(existsSync(copy)).toBe(false);
  expect(existsSync(`${copy}.rows`)).toBe(false);
  return error;
}

describe("the forms of JSON files", () => {
  const expected = { header: ["id", "name"], rows: [[1, ["1", "Ada"]] as const, [2, ["2", "Bob"]] as const] };
  const [ada, bob] = ['{"id":1,"name":"Ada"}', '{"id":2,"name":"Bob"}'];
  test.each([
    ["an object per line", "ndjson", `${ada}\n${bob}`],
    ["lines that end in CRLF", "ndjson", `${ada}\r\n${bob}\r\n`],
    ["an array", "json", `[${ada},${bob}]`],
    ["an array on several lines", "json", `\n [\n${ada},\n\n ${bob}\n]\n`],
    ["an object around an array", "json", `{"people":[${ada},${bob}]}`],
    [
      "an object around an array, with page numbers and tags",
      "json",
      `{"page":1,"tags":["x"],"people":[${ada},${bob}],"q":{"a":2}}`,
    ],
    ["a byte order mark", "ndjson", `\uFEFF${ada}\n${bob}\n`],
    ["UTF-16", "json", Buffer.from(`\uFEFF[${ada},${bob}]`, "utf16le")],
    ["gzip", "json", makeGzip(Buffer.from(`[${ada},${bob}]`))],
  ])("%s", async (_name, origin, content) => {
    expect(await read(content)).toEqual({ ...expected, origin });
  });

  test("a record keeps the number of its first line", async () => {
    const { rows } = await read(`${ada}\n\n{\n"id": 2,\n"name": "Bob"}\n${ada}\n`);
    expect(rows.map(([line, [id]]) => [line, id])).toEqual([
      [1, "1"],
      [3, "2"],
      [6, "1"],
    ]);
  });

  test("a single object with an ID is a record; without one, it encloses an array", async () => {
    const items = [{ sku: "a" }, { sku: "b" }];
    expect((await read(JSON.stringify({ id: 1, items }))).rows).toEqual([[1, ["1", "a,b"]]]);
    expect((await read(JSON.stringify({ order_id: 1, items }))).rows).toEqual([[1, ["1", "a,b"]]]);
    expect((await read(JSON.stringify({ orderId: 1, items }))).rows).toEqual([[1, ["1", "a,b"]]]);
    expect((await read(JSON.stringify({ next: 1, items }))).rows).toEqual([
      [1, ["a"]],
      [2, ["b"]],
    ]);
    expect((await read(JSON.stringify({ name: "Ada", tags: ["x"] }))).rows).toEqual([[1, ["Ada", "x"]]]);
  });

  test.each([
    ["CSV", "order_id,email\n1,a@b\n"],
    ["CSV with brackets in its header", "[id],{name}\n"],
    ["a quoted header", '"id","name"\n'],
    ["an empty file", ""],
    ["an unknown encoding", ada, "no-such-encoding"],
  ])("%s is not JSON", async (_name, content, encoding?: string) => {
    expect(await convert(content, encoding)).toBeUndefined();
    expect(existsSync(copy)).toBe(false);
  });

  test("the flag decides the encoding", async () => {
    const { rows } = await read(Buffer.from('[{"name":"Chlo\u00e9"}]', "latin1"), "windows-1252");
    expect(rows).toEqual([[1, ["Chloé"]]]);
  });
});

describe("values", () => {
  const cellsOf = async (text: string) => {
    const { header, rows } = await read(`[${text}]`);
    return Object.fromEntries(header.map((name, at) => [name, rows[0]?.[1][at]]));
  };

  test.each([
    ["integers of any length", "12345678901234567890", "12345678901234567890"],
    ["decimal places", "19.90", "19.90"],
    ["negative numbers", "-0.5", "-0.5"],
    ["numbers with an exponent", "1.5e3", "1500"],
    ["booleans", "true", "true"],
    ["null as an empty cell", "null", ""],
    ["texts", '"a, \\"b\\"\\u00e9"', 'a, "b"é'],
    ["line breaks as LF", '"a\\r\\nb\\rc\\nd"', "a\nb\nc\nd"],
    ["arrays, joined with commas", '["a",2,null,true]', "a,2,true"],
    ["empty arrays as an empty cell", "[]", ""],
  ])("%s", async (_name, value, cell) => {
    expect(await cellsOf(`{"first":"x","value":${value}}`)).toEqual({ first: "x", value: cell });
  });

  test("nested objects have columns with dots, and arrays of objects join each property", async () => {
    const text = '{"reviewer":{"name":"Ada","at":{"city":"Rome"}},"media":[{"url":"a","n":1},{"url":"b"}],"none":{}}';
    expect(await cellsOf(text)).toEqual({
      "reviewer.name": "Ada",
      "reviewer.at.city": "Rome",
      "media.url": "a,b",
      "media.n": "1",
    });
  });

  test("a property may have the name of an object's prototype", async () => {
    expect(await cellsOf('{"__proto__":"a","constructor":"b"}')).toEqual(
      Object.fromEntries([
        ["__proto__", "a"],
        ["constructor", "b"],
      ]),
    );
  });

  test("the columns are those of all objects, and earlier rows have empty cells for them", async () => {
    const { header, rows } = await read('{"a":1}\n{"b":"x,\\ny","a":2}\n\n{"c":3,"d":4}\n{}\n{"d":5}\n');
    expect(header).toEqual(["a", "b", "c", "d"]);
    expect(rows).toEqual([
      [1, ["1", "", "", ""]],
      [2, ["2", "x,\ny", "", ""]],
      [4, ["", "", "3", "4"]],
      [6, ["", "", "", "5"]],
    ]);
  });

  test("an object without the columns of earlier ones has empty cells", async () => {
    expect((await read('{"a":1,"b":2,"c":3}\n{"b":4}\n{"a":5}\n')).rows).toEqual([
      [1, ["1", "2", "3"]],
      [2, ["", "4", ""]],
      [3, ["5", "", ""]],
    ]);
  });

  test("the rows so far are reported", async () => {
    const object = `{"a":"${"x".repeat(1_000)}"}\n`;
    const counts: number[] = [];
    writeFileSync(path, object.repeat(4_000));
    const report = (event: ImportEvent) => {
      if (event.type === "reading") counts.push(event.rows ?? 0);
    };
    await convertFile({ given: "input", path, copy }, {}, { ...deps, report });
    expect(counts.length).toBeGreaterThan(1);
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    expect(counts.every((count) => count > 0 && count <= 4_000)).toBe(true);
  });

  test("columns are added across the pieces in which the rows are copied", async () => {
    const rows = Array.from({ length: 15_000 }, (_, at) => `{"name":"${"n".repeat(20 + (at % 17))},${at}"}`);
    const found = await read([...rows, '{"last":"z"}'].join("\n"));
    expect(found.header).toEqual(["name", "last"]);
    expect(found.rows).toHaveLength(15_001);
    expect(
      found.rows.slice(0, -1).every(([line, cells]) => cells.length === 2 && cells[0]?.endsWith(`,${line - 1}`)),
    ).toBe(true);
    expect(found.rows.at(-1)).toEqual([15_001, ["", "z"]]);
  });
});

describe("errors", () => {
  test.each([
    ["in an array", '[{"a":1},\n {"b":tru}]', 2, 10],
    ["in an array, after letters of several bytes", '[{"é":1}, }]', 1, 11],
    ["in a line", '{"a":1}\n{"a":2}\n{"a":3,}\n', 3, 8],
    ["in the first line", '{"a":1,,}\n{"a":2}\n', 1, 8],
    ["after an array", '[{"a":1}]\n\nx', 3, 1],
    ["in an enclosing object", '{"rows":[{"a":1}],\n"b" x}', 2, 5],
  ])("name the line and the column: %s", async (_name, text, line, column) => {
    const error = await errorOf(text);
    expect(error).toMatchObject({ line });
    expect(error.message).toContain(`column ${column}`);
  });

  test.each([
    ["incomplete text", '[{"a":1},{"a"', /incomplete/],
    ["an incomplete last line", '{"a":1}\n{"a":', /incomplete/],
    ["no objects", "[]", /no objects/],
    ["an enclosing object without objects", '{"rows":[]}', /no array of objects/],
    ["plain values", "[1,2]", /element 1 is not an object/],
    ["arrays of cells", '[["a"],["b"]]', /element 1 is not an object/],
    ["a plain value after objects", '[{"a":1},2]', /element 2 is not an object/],
    ["several arrays", '{"a":[{"x":1}],"b":[{"x":1}]}', /"a" and "b"/],
    ["deep nesting", `[{"a":${"[".repeat(40)}${"]".repeat(40)}}]`, /32 levels/],
    ["deep objects", `[${'{"a":'.repeat(40)}1${"}".repeat(40)}]`, /32 levels/],
    ["bytes that are not UTF-8", Buffer.from('[{"a":"\u00e9"}]', "latin1"), /not valid JSON/],
    [
      "many columns",
      JSON.stringify([Object.fromEntries(Array.from({ length: 1_001 }, (_, at) => [`c${at}`, 1]))]),
      /1000/,
    ],
  ])("%s", async (_name, text, message) => {
    expect((await errorOf(text)).message).toMatch(message);
  });

  test("a line with several objects, or none", async () => {
    expect(await errorOf('{"a":1}\n{"a":2} {"a":3}\n')).toMatchObject({ line: 2 });
    expect(await errorOf('{"a":1}\n\n"text"\n')).toMatchObject({ line: 3 });
  });

  test("1,000 columns are accepted", async () => {
    const row = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`c${at}`, at]));
    expect((await read(JSON.stringify([row]))).header).toHaveLength(1_000);
  });

  test("a record that is too large ends the conversion early", async () => {
    const error = await errorOf(`[{"a":1},{"a":"${"x".repeat(9 * 1024 * 1024)}"}]`);
    expect(error.message).toMatch(/8 MiB/);
  });

  test("stop when aborted", async () => {
    writeFileSync(path, `[${Array.from({ length: 1_200 }, () => `{"a":"${"x".repeat(1_000)}"}`).join(",")}]`);
    const abort = AbortSignal.abort();
    await expect(convertFile({ given: "input", path, copy }, {}, { ...deps, abort })).rejects.toMatchObject({
      name: "AbortError",
    });
    expect(existsSync(copy)).toBe(false);
  });
});

test("the table is readable only by its owner and ends each row with CR", async () => {
  await convert('[{"a":"x\\ny"},{"a":""},{"a":"z"}]');
  expect(readFileSync(copy, "latin1")).toBe('a\r"x\ny"\r\rz\r');
});
