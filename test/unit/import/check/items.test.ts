import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ItemReader } from "../../../../src/import/check/items.ts";
import type { ImportOptions } from "../../../../src/import/options.ts";
import { asTallyFile } from "../../../../src/import/run/attempt.ts";
import { KeyStore } from "../../../../src/import/run/key-store.ts";
import type { RejectFile } from "../../../../src/import/run/reject-file.ts";
import { RunTally } from "../../../../src/import/run/tally.ts";
import { openFiles, readRows } from "../../../../src/import/source/input-files.ts";
import type { SourceRow } from "../../../../src/import/item.ts";
import { kinds } from "../../../support/record-kinds.ts";
import { useTemporaryFolder } from "../../../support/temporary-folder.ts";

const folder = useTemporaryFolder();

const startedMs = Date.UTC(2026, 0, 31);

/** Reads the items of a file, and what was rejected: line, column, code, and cells. */
async function read(name: string, text: string, { options = {}, keys }: { options?: object; keys?: KeyStore } = {}) {
  const path = join(folder, "input.csv");
  writeFileSync(path, text);
  const kind = kinds.get(name);
  const asked: ImportOptions = { dryRun: true, map: {}, ...options };
  const behavior = kind.prepare(asked);
  const [file] = await openFiles([{ given: "input.csv", path }], { kind, behavior, options: asked }, { kinds });
  if (!file) throw new Error("no file");
  const rejected: (readonly [line: number, column: string, code: string, cells: string])[] = [];
  const reasons: string[] = [];
  const add = ({ line, cells }: SourceRow, place: { column: string; code: string; reason: string }) => {
    rejected.push([line, place.column, place.code, cells.join("|")]);
    reasons.push(place.reason.split("; ")[0] ?? "");
  };
  const tally = new RunTally([asTallyFile(file)], { add } as unknown as RejectFile);
  const reader = new ItemReader({ behavior, tally, keys, file, fileIndex: 0, options: asked, startedMs });
  const items = [];
  for (const batch of readRows(file, undefined)) items.push(...reader.read(batch));
  items.push(...reader.end());
  const read1 = items.map(({ key, rows }) => [[key], rows.map(({ line }) => line)].flat());
  const notices = [...tally.notices(behavior.itemName)].flatMap((one) => (one.type === "notice" ? [one.message] : []));
  return { items: read1, rejected, rows: reader.rows, blankRows: reader.blankRows, reasons, notices };
}

const product = (id: string, more = "") => `${id},Cup,https://shop.example/${id}${more}\n`;
const header = "product_id,name,url\n";

describe("rows", () => {
  test("that are blank are counted apart", async () => {
    const found = await read("products", `${header}${product("a")},,\n , \t,\n"","",""\n${product("b")}`);
    expect(found).toMatchObject({
      items: [
        ["a", 2],
        ["b", 6],
      ],
      rejected: [],
      rows: 2,
      blankRows: 3,
    });
  });

  test("must have as many cells as the header, apart from empty ones at their end", async () => {
    const rows = [product("a", ",,"), product("b", ",x"), "c,Cup\n", product("d", ", "), product("e")];
    const found = await read("products", header + rows.join(""));
    expect(found.items).toEqual([
      ["a", 2],
      ["e", 6],
    ]);
    expect(found.rejected).toEqual([
      [3, "", "ragged_row", "b|Cup|https://shop.example/b|x"],
      [4, "", "ragged_row", "c|Cup"],
      [5, "", "ragged_row", "d|Cup|https://shop.example/d| "],
    ]);
  });

  test("that could not be parsed are cut at their delimiters", async () => {
    const found = await read("products", `${header}a,"Cup,x\n${product("b")}c,"C\0p",x\n`);
    expect(found.items).toEqual([["b", 3]]);
    expect(found.rejected).toEqual([
      [2, "", "bad_quote", 'a|"Cup|x'],
      [4, "", "nul_byte", "c|C\0p|x"],
    ]);
  });

  test.each([
    ['"Cup', "bad_quote", true],
    ['""Cup"', "bad_quote", true],
    ['x,"Cup', "bad_quote", true],
    ['"', "bad_quote", true],
    ['"Cup"', "bad_quote", false],
    ['"C""up"', "bad_quote", false],
    ['""', "bad_quote", false],
    ['C"up, "x" y', "bad_quote", false],
    ['"Cup', "", false],
    ['"Cup', "missing", false],
  ])("of a reject file with the cell %j and the code %j are still invalid: %s", async (cell, code, isInvalid) => {
    const quoted = `"${cell.replaceAll('"', '""')}"`;
    const text = `product_id,name,url,_line,_column,_code,_reason\na,${quoted},https://shop.example/a,2,,${code},\n`;
    const { items, rejected } = await read("products", text);
    expect([items.length, rejected.map(([, , found]) => found)]).toEqual(isInvalid ? [0, ["bad_quote"]] : [1, []]);
  });
});

describe("accepted values that may be wrong", () => {
  test("a UPC without its leading zero", async () => {
    const codes = ["12345678905", "36000291452", "012345678905", "12345678900", "1234567890", ""];
    const rows = codes.map((upc, at) => product(`p${at}`, `,${upc}`));
    const { items, notices } = await read("products", `product_id,name,url,upc\n${rows.join("")}`);
    expect(items).toHaveLength(codes.length);
    expect(notices).toEqual([
      "2 accepted values may be wrong: upc: a UPC without its leading zero, which a spreadsheet program removed; first at input.csv:2",
    ]);
  });

  test("an email address without a dot in its domain", async () => {
    const emails = ["ada@localhost", "ada@shop.example", "a@b", "ada"];
    const rows = emails.map((email, at) => `${at},Ada,2026-01-05,p,Cup,https://shop.example/p,${email}\n`);
    const columns = "order_id,customer_name,order_date,product_id,product_name,product_url,email\n";
    const { items, notices, rejected } = await read("orders", columns + rows.join(""));
    expect([items.length, rejected.length]).toEqual([3, 1]);
    expect(notices).toEqual([
      "2 accepted values may be wrong: email: no dot after the @, so it receives no email; first at input.csv:2",
    ]);
  });
});

describe("items", () => {
  test("of adjacent rows with one key are joined, up to the maximum number of rows", async () => {
    const { items } = await read("products", header + ["a", "a", "b", "a"].map((id) => product(id)).join(""));
    expect(items).toEqual([
      ["a", 2, 3],
      ["b", 4],
      ["a", 5],
    ]);
    const many = await read("products", header + product("a").repeat(1_001));
    expect(many.items.map(([, ...lines]) => lines.length)).toEqual([1_000, 1]);
  });

  test("that may exist once are rejected if they are repeated or stored already", async () => {
    using keys = new KeyStore(join(folder, "keys"));
    await keys.load([[{ key: "STORED" }]], 0);
    const options = { action: "map_review" };
    const found = await read("coupons", "code\nCODE-1\nSTORED\nCODE-2\nCODE-1\n", { options, keys });
    expect(found.items).toEqual([
      ["CODE-1", 2],
      ["CODE-2", 4],
    ]);
    expect(found.rejected).toEqual([
      [3, "code", "duplicate", "STORED"],
      [5, "code", "duplicate", "CODE-1"],
    ]);
    expect(found.reasons.map((reason) => /\d+$/.exec(reason)?.[0])).toEqual([undefined, "2"]);
  });

  test("are read from trimmed cells without the mark of a formula", async () => {
    const { items, rejected } = await read("products", `${header} a\t,Cup,https://shop.example/a\n'=b,Cup,x\n`);
    expect(items).toEqual([["a", 2]]);
    expect(rejected.map(([line]) => line)).toEqual([3]);
  });

  test("with damaged values, empty cells, or dates in the future are rejected", async () => {
    const orders = "order_id,email,customer_name,order_date,product_id,product_name,product_url,product_price\n";
    const order = (id: string, date: string, name = "Cup", price = "5") =>
      `${id},ann@shop.example,Ann,${date},p,${name},https://shop.example/p,${price}\n`;
    const rows = [
      order("1", "2026-01-31"),
      order("2", "2026-02-01"),
      order("3", "2026-02-02"),
      order("4", "2026-01-31", "#REF!"),
      order("1.2E+12", "2026-01-31"),
      order("6", "2026-01-31", "Cup", ""),
    ];
    const found = await read("orders", orders + rows.join(""), { options: { empty: "error" } });
    expect(found.items.map(([key]) => key)).toEqual(["1", "2"]);
    expect(found.rejected.map(([line, column, code]) => [line, column, code])).toEqual([
      [4, "order_date", "future_date"],
      [5, "product_name", "spreadsheet_error"],
      [6, "order_id", "scientific_notation"],
      [7, "product_price", "empty_cell"],
    ]);
  });
});
