import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type FormatFlags, type GroupedInput, RejectFile } from "../../../../src/import/run/reject-file.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "starpost-test-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const utf8 = { encoding: "utf-8", delimiter: ",", isCrOnly: false };
const input = (header: readonly string[], more: Partial<GroupedInput> = {}): GroupedInput => ({
  header,
  format: utf8,
  fieldOf: () => undefined,
  group: "",
  ...more,
});
const place = { column: "c", code: "x", reason: "r" };

function write(
  inputs: readonly GroupedInput[],
  rows: readonly (readonly [number, readonly string[]])[],
  flags: FormatFlags = {},
  name = "rejects.csv",
) {
  const rejects = new RejectFile(join(folder, name), inputs, flags);
  for (const [at, [file, cells]] of rows.entries()) rejects.add({ file, line: at + 2, cells }, place);
  rejects.close(true);
  return rejects.written.map((path) => [path.slice(folder.length + 1), readFileSync(path, "latin1")]);
}

const own = "_line,_column,_code,_reason";

test("files that must be read differently have tables of their own, next to the first", () => {
  const groups = ["a", "b", "a", "c"].map((group) => input([group], { group }));
  const rows = [0, 1, 2, 3].map((file) => [file, [`${file}`]] as const);
  mkdirSync(join(folder, "x.y"));
  const names = (name: string) => write(groups, rows, {}, name).map(([path]) => path);
  expect(names("rejects.csv")).toEqual(["rejects.csv", "rejects-2.csv", "rejects-3.csv"]);
  expect(names("x.y/rejects")).toEqual(["x.y/rejects", "x.y/rejects-2", "x.y/rejects-3"]);
  expect(names("a.b.csv")).toEqual(["a.b.csv", "a.b-2.csv", "a.b-3.csv"]);
  expect(write(groups, rows.slice(1, 2))).toEqual([["rejects-2.csv", `b,${own}\n1,2,c,x,r\n`]]);
});

test("columns of several files are united by their fields, or else by name and order", () => {
  const fieldOf = (column: number) => (column === 1 ? "name" : undefined);
  const inputs = [
    input(["id", "Name", "tag", "tag", "_line"], { fieldOf }),
    input(["tag", "Title", "tag", "size"], { fieldOf }),
  ];
  const rows = [
    [0, ["1", "Cup", "a", "b", "9"]],
    [1, ["c", "Mug", "d", "L"]],
    [1, ["c"]],
    [1, ["c", "Mug", "d", "L", "M"]],
  ] as const;
  expect(write(inputs, rows)).toEqual([
    [
      "rejects.csv",
      `id,Name,tag,tag,size,${own}\n1,Cup,a,b,,2,c,x,r\n,Mug,c,d,L,3,c,x,r\n,,c,,,4,c,x,r\n,Mug,c,d,"L,M",5,c,x,r\n`,
    ],
  ]);
});

const mark = "\u00ef\u00bb\u00bf";
test.each<[string, readonly Partial<typeof utf8>[], FormatFlags, string]>([
  ["the files' own", [{ delimiter: ";" }, { delimiter: ";" }], {}, "a;_line;_column;_code;_reason\né;2;c;x;r\n"],
  ["a common one", [{ delimiter: ";" }, {}], {}, `a,${own}\né,2,c,x,r\n`],
  ["the flags'", [{ delimiter: ";" }, {}], { delimiter: "^" }, "a^_line^_column^_code^_reason\né^2^c^x^r\n"],
  ["one that is detected again", [{ delimiter: "^" }], {}, `a,${own}\né,2,c,x,r\n`],
  ["UTF-8 with a mark instead of Windows-1252", [{ encoding: "windows-1252" }], {}, `${mark}a,${own}\né,2,c,x,r\n`],
  [
    "UTF-8 with a mark instead of two encodings",
    [{ encoding: "windows-1252" }, {}],
    {},
    `${mark}a,${own}\né,2,c,x,r\n`,
  ],
])("the format is %s", (_name, formats, flags, expected) => {
  const inputs = formats.map((format) => input(["a"], { format: { ...utf8, ...format } }));
  expect(write(inputs, [[0, ["é"]]], flags)).toEqual([
    ["rejects.csv", Buffer.from(expected.replaceAll(mark, "\ufeff")).toString("latin1")],
  ]);
});

test.each([
  ["utf-16le", {}, Buffer.from(`\ufeffa,${own}\né,2,c,x,r\n`, "utf16le")],
  ["windows-1252", { encoding: "windows-1252" }, Buffer.from(`a,${own}\né,2,c,x,r\n`, "latin1")],
])("the encoding %s is kept if it is detected or given again", (encoding, flags, expected) => {
  const inputs = [input(["a"], { format: { ...utf8, encoding } })];
  expect(write(inputs, [[0, ["é"]]], flags)).toEqual([["rejects.csv", expected.toString("latin1")]]);
});

test("a resume replaces the table once it has caught up, and removes it if nothing is rejected", () => {
  const path = join(folder, "rejects.csv");
  const inputs = [input(["a"])];
  write(inputs, [[0, ["1"]]]);
  const behind = new RejectFile(path, inputs, {});
  behind.add({ file: 0, line: 9, cells: ["2"] }, place);
  behind.close(false);
  expect([readFileSync(path, "utf8"), existsSync(`${path}.new`)]).toEqual([`a,${own}\n1,2,c,x,r\n`, false]);
  expect(write(inputs, [[0, ["a\rb"]]])).toEqual([["rejects.csv", `a,${own}\n"a\rb",2,c,x,r\n`]]);
  expect(write(inputs, [])).toEqual([]);
  expect(existsSync(path)).toBe(false);
});
