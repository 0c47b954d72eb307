import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readFileHead } from "../../../../../src/import/csv/file-format.ts";
import { readRowBatches } from "../../../../../src/import/csv/row-batches.ts";
import { convertFile } from "../../../../../src/import/source/conversion/convert.ts";
import { formatNumber } from "../../../../../src/import/source/conversion/workbook/cell-text.ts";
import { readFormatCode } from "../../../../../src/import/source/conversion/workbook/number-formats.ts";
import { collectStrings, SharedStrings } from "../../../../../src/import/source/conversion/workbook/shared-strings.ts";
import { makeGzip, makeZip } from "../../../../support/archives.ts";
import { type Cell, columnName, makeSheet, makeWorkbook } from "../../../../support/workbooks.ts";
import { useTemporaryFolder } from "../../../../support/temporary-folder.ts";

const folder = useTemporaryFolder();

const path = join(folder, "orders.xlsx");
const copy = join(folder, "table.csv");
const notices: string[] = [];
const deps = {
  abort: new AbortController().signal,
  report: (event: { readonly type: string; readonly message?: string }) => {
    if (event.message !== undefined) notices.push(event.message);
  },
};

async function convert(bytes: Buffer, sheet?: string) {
  notices.length = 0;
  writeFileSync(path, bytes);
  rmSync(copy, { force: true });
  return convertFile({ given: "orders.xlsx", path, copy }, { sheet }, deps);
}

/** Header, and rows by number, of a converted sheet, as the import reads them. */
async function read(bytes: Buffer, sheet?: string) {
  const known = await convert(bytes, sheet);
  if (!known) throw new Error("not converted");
  const head = readFileHead(copy, { known });
  const rows = [...readRowBatches(head.source, head.format, undefined)].flatMap((batch) =>
    batch.rows.map((cells, at) => [batch.lines[at], ...cells]),
  );
  return { header: head.header, rows };
}

async function errorOf(bytes: Buffer, sheet?: string): Promise<Error & { readonly hint?: string }> {
  const error: unknown = await convert(bytes, sheet).catch((thrown: unknown) => thrown);
  if (!(error instanceof Error)) throw new Error("no error");
  expect(existsSync(copy)).toBe(false);
  expect(existsSync(`${copy}.xlsx`)).toBe(false);
  return error;
}

const people = makeSheet([
  ["id", "name"],
  [1, "Ada"],
]);
const peopleRead = { header: ["id", "name"], rows: [[2, "1", "Ada"]] };

describe("sheets", () => {
  test("are read whatever contains them", async () => {
    expect(await read(people)).toEqual(peopleRead);
    expect(await read(makeGzip(people))).toEqual(peopleRead);
    expect(notices).toEqual([]);
    const inZip = makeZip([{ name: "a/orders.xlsx", bytes: people }]);
    writeFileSync(path, inZip);
    const known = await convertFile({ given: "x", path, entry: "a/orders.xlsx", copy }, {}, deps);
    expect(readFileHead(copy, { known }).header).toEqual(["id", "name"]);
    expect(existsSync(`${copy}.xlsx`)).toBe(false);
  });

  test("keep their row numbers; leading and other blank rows are skipped", async () => {
    const rows = { 3: ["id", "name"], 4: [1, 'a\nb,"c"'], 7: [" "], 9: [undefined, "x"], 12: [], 13: [3] };
    expect(await read(makeWorkbook({ sheets: [{ name: "S", rows: { 2: [" "], ...rows } }] }))).toEqual({
      header: ["id", "name"],
      rows: [
        [4, "1", 'a\nb,"c"'],
        [7, " ", ""],
        [9, "", "x"],
        [13, "3", ""],
      ],
    });
  });

  const several = makeWorkbook({
    sheets: [
      { name: "Old", state: "hidden", rows: { 1: ["old"], 2: ["o"] } },
      { name: "Orders & more", rows: { 1: ["id"], 2: ["a"] } },
      { name: "Notes", rows: { 1: ["note"], 2: ["n"] } },
      { name: "Secret", state: "veryHidden", rows: { 1: ["secret"] } },
      { name: "Blank", rows: {} },
    ],
  });

  test("the first visible one is read, or the given one, whatever its case", async () => {
    expect(await read(several)).toEqual({ header: ["id"], rows: [[2, "a"]] });
    expect(notices).toEqual([expect.stringMatching(/'Orders & more', not 'Old', 'Notes', 'Secret', 'Blank'.*--sheet/)]);
    expect((await read(several, "Notes")).header).toEqual(["note"]);
    expect(notices).toEqual([]);
    expect((await read(several, "orders & MORE")).header).toEqual(["id"]);
    expect((await read(several, "Secret")).header).toEqual(["secret"]);
  });

  test("an unknown or empty one is an error that lists the others", async () => {
    expect(await errorOf(several, "Note")).toMatchObject({
      kind: "usage",
      misnamed: { given: "Note", known: ["Old", "Orders & more", "Notes", "Secret", "Blank"] },
      hint: expect.stringContaining("'Orders & more'"),
    });
    const empty = await errorOf(several, "Blank");
    expect([empty.message, empty.hint]).toEqual([
      expect.stringContaining("'Blank' is empty"),
      expect.stringContaining("'Notes'"),
    ]);
    expect((await errorOf(makeSheet([]))).hint).toBeUndefined();
  });

  test("a name applies only to workbooks", async () => {
    expect(await convert(Buffer.from("id,name\n"), "Notes")).toBeUndefined();
    expect(notices).toEqual([expect.stringContaining("ignored --sheet")]);
  });

  test("if all are hidden, the first one is read", async () => {
    const hidden = makeWorkbook({ sheets: [{ name: "A", state: "hidden", rows: { 1: ["id"] } }] });
    expect((await read(hidden)).header).toEqual(["id"]);
  });

  test("cells to the right of the header are ignored, and reported", async () => {
    const { rows } = await read(makeSheet([["id", "name"], [1, "Ada", "note"], [2], [3, "Bob", undefined, "more"]]));
    expect(rows).toEqual([
      [2, "1", "Ada"],
      [3, "2", ""],
      [4, "3", "Bob"],
    ]);
    expect(notices).toEqual([expect.stringMatching(/2 rows have .*row 2$/)]);
  });

  test("columns beyond Z are in their place, with and without references", async () => {
    const names = Array.from({ length: 30 }, (_, at) => `c${at}`);
    const sparse: Cell[] = Array.from({ length: 30 }, (_, at) => (at === 27 ? "here" : undefined));
    const { header, rows } = await read(makeSheet([names, sparse]));
    expect(header).toEqual(names);
    expect(rows[0]?.[28]).toBe("here");
    expect([0, 25, 26, 27, 701, 702].map(columnName)).toEqual(["A", "Z", "AA", "AB", "ZZ", "AAA"]);
    const xml =
      "<worksheet><sheetData><row><c><v>1</v></c><c><v>2</v></c></row><row><c><v>3</v></c></row></sheetData></worksheet>";
    expect(await read(makeWorkbook({ sheets: [{ name: "S", xml }] }))).toEqual({
      header: ["1", "2"],
      rows: [[2, "3", ""]],
    });
  });

  test("element names may have a prefix", async () => {
    const xml =
      '<x:worksheet xmlns:x="m"><x:sheetData><x:row r="1"><x:c r="A1" t="str"><x:v>id</x:v></x:c></x:row></x:sheetData></x:worksheet>';
    expect((await read(makeWorkbook({ sheets: [{ name: "S", xml }] }))).header).toEqual(["id"]);
  });
});

describe("cells", () => {
  const cellsOf = async (cells: readonly Cell[], form: object = {}) => {
    const header = cells.map((_, at) => `c${at}`);
    const rows = { 1: [...header, "end"], 2: [...cells, "end"] };
    const read1 = await read(makeWorkbook({ sheets: [{ name: "S", rows }], ...form }));
    return read1.rows[0]?.slice(1, -1);
  };

  test("shared, formatted, and inline texts, without phonetic hints", async () => {
    const strings =
      '<si><t>plain &amp; simple</t></si><si><r><t xml:space="preserve">rich </t></r><r><rPr><b/></rPr><t>text</t></r></si>' +
      "<si><t>漢字</t><rPh><t>かんじ</t></rPh></si><si><t>a_x000D__x000A_b _x005F_x0041_</t></si><si/>";
    const shared = [0, 1, 2, 3, 4].map((at) => ({ t: "s", xml: `<v>${at}</v>` }));
    const inline = { t: "inlineStr", xml: "<is><r><t>in</t></r><r><t>line</t></r><rPh><t>x</t></rPh></is>" };
    expect(await cellsOf([...shared, inline], { strings })).toEqual([
      "plain & simple",
      "rich text",
      "漢字",
      "a\nb _x0041_",
      "",
      "inline",
    ]);
  });

  test("booleans, errors, results of formulas, and dates in ISO 8601", async () => {
    expect(
      await cellsOf([
        { t: "b", xml: "<v>1</v>" },
        { t: "b", xml: "<v>0</v>" },
        { t: "e", xml: "<v>#REF!</v>" },
        { t: "str", xml: "<f>A1&amp;B1</f><v>a_x0041_b</v>" },
        { xml: "<f>1+1</f><v>2</v>" },
        { t: "str", xml: "<f>x</f><v></v>" },
        { t: "d", xml: "<v>2026-03-01T00:00:00</v>" },
        { t: "d", xml: "<v>2026-03-01T08:30:00</v>" },
      ]),
    ).toEqual(["TRUE", "FALSE", "#REF!", "aAb", "2", "", "2026-03-01", "2026-03-01 08:30:00"]);
    expect(notices).toEqual([]);
  });

  test("formulas without a saved result are reported", async () => {
    expect(await cellsOf([{ xml: "<f>1+1</f>" }, { xml: "<f>1+1</f><v/>" }])).toEqual(["", ""]);
    expect(notices).toEqual([expect.stringMatching(/2 formulas .*row 2/)]);
  });

  test("formats decide what is a date, by the workbook's calendar", async () => {
    const formats = ["dd.mm.yyyy", "h:mm", "00000", 14, 22, 0];
    const cells = [1, 2, 3, 4, 5, 6].map((s): Cell => ({ s, xml: `<v>${s === 3 ? 123 : 45_000.75}</v>` }));
    expect(await cellsOf(cells, { formats })).toEqual([
      "2023-03-15",
      "18:00:00",
      "00123",
      "2023-03-15",
      "2023-03-15 18:00:00",
      "45000.75",
    ]);
    expect(await cellsOf([{ s: 1, xml: "<v>0</v>" }], { formats, is1904: true })).toEqual(["1904-01-01"]);
  });
});

describe("numbers", () => {
  test.each([
    ["1002", "1002"],
    ["0", "0"],
    ["-7", "-7"],
    ["1.0020000000000000E3", "1002"],
    ["19.989999999999998", "19.99"],
    ["0.1", "0.1"],
    ["1E-3", "0.001"],
    ["1.0000000000000001E-9", "0.000000001"],
    ["123456789012345", "123456789012345"],
    ["1.23456789012345E14", "123456789012345"],
    ["1234567890123450", "1.23456789012345E+15"],
    ["1234567890123456", "1234567890123456"],
    ["9007199254740991", "9007199254740991"],
    ["9007199254740993", "9007199254740993"],
    ["9007199254740994", "9.00719925474099E+15"],
    ["1.2345678901234568E+17", "1.23456789012346E+17"],
    ["123456789012345677", "123456789012345677"],
    ["1E15", "1E+15"],
    ["1E-30", "0"],
    ["NaN", "NaN"],
    ["", ""],
  ])("%j is %j", (raw, text) => {
    expect(formatNumber(raw, undefined, false)).toBe(text);
  });

  const date = { type: "date", hasDate: true, hasTime: false } as const;
  const both = { type: "date", hasDate: true, hasTime: true } as const;
  const time = { type: "date", hasDate: false, hasTime: true } as const;
  test.each([
    ["1", date, "1900-01-01"],
    ["59", date, "1900-02-28"],
    ["60", date, "60"],
    ["61", date, "1900-03-01"],
    ["46000", date, "2025-12-09"],
    ["46000.99", date, "2025-12-09"],
    ["46000", both, "2025-12-09"],
    ["46000.5", both, "2025-12-09 12:00:00"],
    ["46000.999999999", both, "2025-12-10"],
    ["46000.000011574", both, "2025-12-09 00:00:01"],
    ["0", date, "0"],
    ["0.25", both, "06:00:00"],
    ["0.25", time, "06:00:00"],
    ["1.5", time, "12:00:00"],
    ["-1", date, "-1"],
    ["2958465", date, "9999-12-31"],
    ["2958466", date, "2958466"],
    ["7", { type: "padded", digits: 4 } as const, "0007"],
    ["12345", { type: "padded", digits: 4 } as const, "12345"],
    ["-7", { type: "padded", digits: 4 } as const, "-7"],
  ])("%s as %j is %j", (raw, format, text) => {
    expect(formatNumber(raw, format, false)).toBe(text);
  });

  test("from 1904, days count from 0", () => {
    expect(formatNumber("0", date, true)).toBe("1904-01-01");
    expect(formatNumber("60", date, true)).toBe("1904-03-01");
  });

  const [isDate, isTime, isBoth] = [date, time, both];
  test.each([
    ["General", undefined],
    ["0.00", undefined],
    ["#,##0 [$€-407]", undefined],
    ["@", undefined],
    ['0 "days"', undefined],
    ["0.00E+00", undefined],
    ["[Red]0;[Blue]-0", undefined],
    ["General;[Red]dd", undefined],
    ["0", undefined],
    ["00", { type: "padded", digits: 2 }],
    ["dd.mm.yyyy", isDate],
    ["[$-409]d-mmm-yy;@", isDate],
    ["yyyy\\-mm\\-dd", isDate],
    ["mmm", isDate],
    ['"on" d/m', isDate],
    ["hh:mm", isTime],
    ["mm:ss.0", isTime],
    ["h:mm AM/PM", isTime],
    ["[h]:mm:ss", undefined],
    ["[mm]", undefined],
    ["d/m/yy h:mm", isBoth],
    ["YYYY-MM-DD HH:MM:SS.000", isBoth],
  ])("the format %j", (code, format) => {
    expect(readFormatCode(code)).toEqual(format);
  });
});

describe("damaged and hostile workbooks", () => {
  const withXml = (xml: string) => makeWorkbook({ sheets: [{ name: "S", xml }] });
  const row = (xml: string) => withXml(`<sheetData>${xml}</sheetData>`);
  test.each([
    [
      "a missing sheet",
      makeWorkbook({
        sheets: [{ name: "S" }],
        parts: [
          {
            name: "xl/_rels/workbook.xml.rels",
            bytes: Buffer.from('<Relationship Id="rId1" Type="x/worksheet" Target="none.xml"/>'),
          },
        ],
      }),
    ],
    ["no main part", makeZip([{ name: "[Content_Types].xml", bytes: Buffer.from("x") }])],
    ["a shared text that does not exist", row('<row r="1"><c r="A1" t="s"><v>0</v></c></row>')],
    ["a shared text with an invalid number", row('<row r="1"><c r="A1" t="s"><v>x</v></c></row>')],
    ["rows in the wrong order", row('<row r="2"></row><row r="1"></row>')],
    ["a row twice", row('<row r="2"></row><row r="2"></row>')],
    ["a row beyond the last", row('<row r="1048577"></row>')],
    ["a row with an invalid number", row('<row r="1.5"></row>')],
    ["cells in the wrong order", row('<row r="1"><c r="B1"/><c r="A1"/></row>')],
    ["a cell beyond the last column", row('<row r="1"><c r="XFE1"><v>1</v></c></row>')],
    ["a huge attribute", row(`<row r="1" x="${"x".repeat(5 * 1024 * 1024)}"></row>`)],
  ])("%s", async (_name, bytes) => {
    expect((await errorOf(bytes)).message).toMatch(/damaged/);
  });

  test("the last row and column are accepted", async () => {
    const names = Array.from({ length: 1000 }, (_, at) => `c${at}`);
    const last = '<row r="1048576"><c r="A1048576"><v>1</v></c><c r="XFD1048576"><v>2</v></c></row>';
    const cells = names.map((name, at) => `<c r="${columnName(at)}1" t="str"><v>${name}</v></c>`).join("");
    const { rows } = await read(row(`<row r="1">${cells}</row>${last}`));
    expect(rows.map(([line, first]) => [line, first])).toEqual([[1_048_576, "1"]]);
  });

  test.each([
    [
      "a large cell",
      row(`<row r="1"><c r="A1" t="str"><v>${"x".repeat(1024 * 1024 + 1)}</v></c></row>`),
      /row 1 .*1 MiB/,
    ],
    [
      "a large shared text",
      makeWorkbook({ sheets: [{ name: "S" }], strings: `<si><t>${"x".repeat(1024 * 1024 + 1)}</t></si>` }),
      /1 MiB/,
    ],
    [
      "an encrypted part",
      makeWorkbook({
        sheets: [{ name: "S" }],
        parts: [{ name: "xl/workbook.xml", bytes: Buffer.from("x"), isEncrypted: true }],
      }),
      /encrypted/,
    ],
    ["a Word document", main("word/document.xml"), /Word document/],
    ["a presentation", main("ppt/presentation.xml"), /PowerPoint/],
    ["a binary workbook", main("xl/workbook.bin"), /xlsb/],
    ["no sheets", makeWorkbook({ sheets: [] }), /no sheet/],
  ])("%s is refused", async (_name, bytes, message) => {
    expect((await errorOf(bytes)).message).toMatch(message);
  });

  test("charts are no sheets", async () => {
    const bytes = makeWorkbook({
      sheets: [{ name: "Chart" }, { name: "Data", rows: { 1: ["id"] } }],
      parts: [
        {
          name: "xl/_rels/workbook.xml.rels",
          bytes: Buffer.from(
            '<Relationships><Relationship Id="rId1" Type="x/chartsheet" Target="c.xml"/><Relationship Id="rId2" Type="x/worksheet" Target="worksheets/sheet2.xml"/></Relationships>',
          ),
        },
      ],
    });
    expect((await read(bytes)).header).toEqual(["id"]);
    expect(notices).toEqual([]);
  });

  test("entities are not expanded", async () => {
    const xml =
      '<!DOCTYPE x [<!ENTITY a "aaaa">]><sheetData><row r="1"><c r="A1" t="str"><v>&a;&lt;&#233;</v></c></row></sheetData>';
    expect((await read(withXml(xml))).header).toEqual(["&a;<é"]);
  });

  function main(target: string): Buffer {
    const relation = `<Relationship Id="a" Type="x/officeDocument" Target="${target}"/>`;
    return makeWorkbook({ sheets: [{ name: "S" }], parts: [{ name: "_rels/.rels", bytes: Buffer.from(relation) }] });
  }
});

describe("shared texts", () => {
  test("are found by number across buffers", () => {
    const strings = new SharedStrings();
    const texts = Array.from({ length: 3_000 }, (_, at) => `${at} é ${"x".repeat(at)}`);
    for (const text of texts) strings.add(text);
    expect(texts.every((text, at) => strings.get(at) === text)).toBe(true);
    for (const at of [-1, 3_000, 0.5, Number.NaN]) expect(strings.get(at)).toBeUndefined();
  });

  test("are refused as soon as one is too long", () => {
    const handler = collectStrings(new SharedStrings());
    const handle = (...texts: readonly string[]) => {
      for (const name of ["si", "t"]) handler.open?.(name, {});
      for (const text of texts) handler.text?.(text);
    };
    const half = "x".repeat(512 * 1024);
    expect(() => handle(half, half)).not.toThrow();
    for (const name of ["t", "si"]) handler.close?.(name);
    expect(() => handle(half, half, "x")).toThrow(/1 MiB/);
  });

  test("have a limit", () => {
    const strings = new SharedStrings();
    const text = "x".repeat(1024 * 1024);
    for (let count = 0; count < 128; count++) strings.add(text);
    expect(() => strings.add("")).not.toThrow();
    expect(() => strings.add("x")).toThrow(/128 MiB/);
    expect(() => new SharedStrings().add(`${text}x`)).toThrow(/1 MiB/);
  });
});
