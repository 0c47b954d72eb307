import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { makeZip, type ZipPart } from "../support/archives.ts";
import { makeWorkbook } from "../support/workbooks.ts";
import { Homes } from "../support/starpost.ts";
import { chooseSize } from "../support/suite-size.ts";

const homes = new Homes();
afterAll(() => homes.remove());

const header = "order_id,order_date,customer_name,email,product_id,product_name,product_url";
const table = Buffer.from(`${header}\n1,2026-01-01,N,a@b.example,p,Pot,https://shop.example/p\n`);
const files = (count: number, extension: string) =>
  Array.from({ length: count }, (_, at): ZipPart => ({ name: `f${at}.${extension}`, bytes: table, isStored: true }));
const sheets = [{ name: "Orders", rows: { 1: header.split(","), 2: ["1"] } }];
const workbook = (name: string, xml: Buffer) =>
  makeWorkbook({ sheets, strings: "", formats: ["0"], parts: [{ name, bytes: xml, isStored: true }] });
/** An XML document that consists of one element, repeated. */
const repeat = (start: string, element: string, count: number, end: string) =>
  Buffer.concat([Buffer.from(start), Buffer.alloc(element.length * count, element), Buffer.from(end)]);
const strings = "xl/sharedStrings.xml";

test.each([
  [
    "60,000 tables",
    () => makeZip(files(60_000, "csv")),
    "the zip archive contains 60,000 files and folders; the limit is 10,000",
  ],
  [
    "60,000 other files",
    () => makeZip([...files(1, "csv"), ...files(59_999, "txt")]),
    "contains 60,000 files and folders",
  ],
  ["1,001 tables", () => makeZip(files(1_001, "csv")), "the zip archive contains 1,001 tables; the limit is 1,000"],
  [
    "60,000 parts",
    () => makeWorkbook({ sheets, parts: files(60_000, "xml") }),
    "files and folders; the limit is 10,000",
  ],
  [
    "90 million declared texts",
    () => workbook(strings, Buffer.from('<sst uniqueCount="90000000"><si><t>a</t></si></sst>')),
    "the Excel workbook contains more than 8,388,608 different texts",
  ],
  [
    "too many texts",
    () => workbook(strings, repeat("<sst>", "<si/>", chooseSize(8_400_000, 10_000_000), "</sst>")),
    "more than 8,388,608 different texts",
  ],
  [
    "a text of millions of parts",
    () => workbook(strings, repeat("<sst><si>", "<t/>", chooseSize(25_200_000, 90_000_000), "</si></sst>")),
    "more than 8,388,608",
  ],
  [
    "too many elements beside cells",
    () =>
      workbook(
        "xl/worksheets/sheet1.xml",
        repeat("<worksheet>", "<x/>", chooseSize(4_010_000, 10_000_000), "</worksheet>"),
      ),
    "the sheet has more than 4,000,000 elements that are not cells",
  ],
  [
    "2 million sheets",
    () => workbook("xl/workbook.xml", repeat("<workbook>", "<sheet/>", 2_000_000, "</workbook>")),
    "xl/workbook.xml in the Excel workbook has more than 1,000,000 elements",
  ],
  [
    "2 million formats",
    () => workbook("xl/styles.xml", repeat("<a>", "<xf/>", 2_000_000, "</a>")),
    "has more than 1,000,000 elements",
  ],
])("a file with %s is refused with status 2", { timeout: 120_000 }, async (_, make, message) => {
  const home = homes.open();
  const file = join(home.folder, "orders.bin");
  writeFileSync(file, make());
  const { exitCode, stderr } = await home.runProcess(["orders", "import", file, "--dry-run"]);
  expect(stderr).toContain(`error: ${file}: `);
  expect(stderr).toContain(message);
  expect(stderr).toContain("hint: ");
  expect(exitCode).toBe(2);
});

test("an archive with 1,000 tables and 9,000 other files is read", { timeout: 120_000 }, async () => {
  const home = homes.open();
  const file = join(home.folder, "orders.zip");
  writeFileSync(file, makeZip([...files(1_000, "csv"), ...files(9_000, "txt")]));
  const { exitCode, data } = await home.json(["orders", "import", file, "--dry-run"]);
  expect(exitCode).toBe(0);
  expect(data.rows).toMatchObject({ read: 1_000 });
});
