import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readSample } from "../../../../src/import/csv/row-batches.ts";
import type { ImportOptions } from "../../../../src/import/options.ts";
import { readHead } from "../../../../src/import/source/located-files.ts";
import { kinds } from "../../../support/record-kinds.ts";
import { useTemporaryFolder } from "../../../support/temporary-folder.ts";

const folder = useTemporaryFolder();

function read(text: string, kind: string, options: Partial<ImportOptions> = {}) {
  const path = join(folder, "orders.csv");
  writeFileSync(path, text);
  const head = readHead({ given: "orders.csv", path }, { map: {}, ...options }, kinds.get(kind));
  return { ...head, first: readSample(head.source, head.format, 1)[0] };
}

const native = "order_id,email,customer_name,order_date,product_id,product_name,product_url";
const row = "1,a@mail.example,Ada,2026-01-02,p1,Hat,https://shop.example/p1";
/** The lines above the header of Amazon's transaction reports. */
const amazon = [
  '"Includes Amazon Marketplace, Fulfillment by Amazon (FBA), and Amazon Webstore transactions"',
  '"All amounts in USD, unless specified"',
  '"Definitions:"',
  '"Sales tax collected: Includes sales tax collected from buyers for product sales, shipping, and gift wrap."',
  '"Selling fees: Includes variable closing fees, per-item fees, and referral fees."',
  '"Other transaction fees: Includes shipping chargebacks, shipping holdbacks, and sales tax collection fees."',
  '"Other: Includes non-order transaction amounts. See the ""Type"" and ""Description"" columns for each order ID."',
].join("\n");

describe("a title above the header", () => {
  test.each([
    ["one title with commas", "Orders export 2026-01-01,,,,,,\n", 2],
    ["one title without", "Orders export 2026-01-01\n", 2],
    ["blank rows", "Report: Orders\n\n,,,,,,\n\n", 5],
    ["a block of names and values", "Shop,Ada's Hats\nFrom,2026-01-01\nTo,2026-01-31\nTotal orders,12\n\n", 6],
    ["a title with a line break", '"Orders\nof January"\nGenerated on,2026-01-31\n', 3],
    ["the lines of a report of Amazon", `${amazon}\n\n\n`, 10],
    ["a title that is the name of a field", "Email\n", 2],
    ["a title with a broken quote", '"Orders" of January\n', 2],
    ["groups of columns", ",Customer,,,Product,,\n", 2],
    ["only dates", "2026-01-01,2026-01-31\n", 2],
    ["a line that declares the delimiter", "sep=,\nOrders\n", 2],
  ])("%s", (_what, title, found) => {
    const head = read(`${title}${native}\n${row}\n`, "orders");
    expect([head.header.join(), head.foundRow, head.first?.join()]).toEqual([native, found, row]);
  });

  test.each([
    [";", "Orders, all shops"],
    [";", "Orders"],
    ["\t", "Orders; all, shops"],
    ["|", "Orders"],
  ])("does not decide the delimiter: %j below %j", (delimiter, title) => {
    const text = `${title}\n${native.replaceAll(",", delimiter)}\n${row.replaceAll(",", delimiter)}\n`;
    const head = read(text, "orders");
    expect([head.header.join(), head.format.delimiter, head.foundRow]).toEqual([native, delimiter, 2]);
    const named = read(text, "orders", { headerRow: 2 });
    expect([named.header.join(), named.format.delimiter, named.first?.join()]).toEqual([native, delimiter, row]);
  });

  test("is found in exports of shops, and in files whose columns `--map` or a synonym names", () => {
    for (const name of readdirSync("fixtures/layouts")) {
      const text = readFileSync(join("fixtures/layouts", name), "utf8").replace(/^\uFEFF/, "");
      const kind = name.includes("orders") ? "orders" : "products";
      const { header } = read(text, kind);
      const titled = read(`Export of January 2026\n\n${text}`, kind);
      expect([name, titled.foundRow, titled.header]).toEqual([name, 3, header]);
    }
    const german = "Bestellung\nBestellnr;Kunde;E-Mail-Adresse;Artikelnummer\n1;Ada;a@mail.example;p1\n";
    expect(read(german, "orders").foundRow).toBe(2);
    const own = "My list\nA,B\n1,2\n";
    expect(read(own, "orders").header).toEqual(["My list"]);
    expect(read(own, "orders", { map: { order_id: "A", email: "B" } }).foundRow).toBe(2);
  });

  test("is found in reports of eBay and of a cash register", () => {
    const eBay = '"Sales Record Number","Order Number","Buyer Name","Item Number","Item Title","Quantity","Sale Date"';
    const padding = '"","","","","","",""';
    const sold = '"149","11-10000-00001","Ada","220000000001","Hat","1","Sep-18-26"';
    const head = read(`,,,,,,\r\n${eBay}\r\n${padding}\r\n${sold}\r\n`, "orders");
    expect([head.header[1], head.foundRow, head.format.rowsAbove]).toEqual(["Order Number", undefined, 1]);
    const register = [
      '"Hats"\n"Main street"\n"Telephone:","555-0100"\n"Terminal:","3"\n"Clerk:","Ada"\n',
      '"Start:","2026-01-01 08:00"\n"End:","2026-01-01 18:00"\n\n\n"\'1","Summer"\n',
      '"Product Number","Product Name","Average Price","Quantities Sold"\n"7","Hat","12.00","3"\n',
    ];
    expect(read(register.join(""), "products")).toMatchObject({ foundRow: 11, header: { length: 4 } });
  });

  test("of a list with one column", () => {
    expect(read("Unsubscribed contacts\nemail\na@mail.example\n", "unsubscribers").foundRow).toBe(2);
    const head = read("Coupons of January\ncode\nA1\nA2\n", "coupons");
    expect([head.foundRow, head.header, head.format.hasNoHeader]).toEqual([2, ["code"], undefined]);
    expect(read("Export2026\ncode,coupon_action\nA1,map_review\n", "coupons").foundRow).toBe(2);
  });
});

describe("no title is seen in", () => {
  test.each([
    ["a list of codes", "coupons", "SAVE10\nSAVE20\ncode\nSAVE30\n", "code"],
    ["a list of codes with actions", "coupons", "SAVE10,map_review\ncode,coupon_action\n", "code,coupon_action"],
    ["a list of addresses", "unsubscribers", "a@mail.example\nb@mail.example\nemail\n", "a@mail.example"],
    ["a list of addresses and names", "unsubscribers", "a@mail.example\nemail,name\n", "a@mail.example"],
    ["a table", "orders", `${native}\nNote\n${native}\n${row}\n`, native],
    ["a table without a header", "orders", `${row}\n${native}\n`, row],
    ["a table of unknown columns", "orders", "A,B,C,D\norder_id,email\n", "A,B,C,D"],
    ["a file without a header below", "orders", "Orders\n1,2,3,4,5\n", "Orders"],
    ["a file with a header far below", "orders", `${"Note\n".repeat(20)}${native}\n`, "Note"],
  ])("%s", (_what, kind, text, header) => {
    const head = read(text, kind);
    expect([head.header.join(), head.foundRow]).toEqual([header, undefined]);
  });
});

describe("--header-row", () => {
  const text = `Orders\n\n"A\n",B\n${native}\n${row}\n`;

  test("names the row, as a spreadsheet program counts", () => {
    const head = read(text, "orders", { headerRow: 4 });
    expect([head.header.join(), head.foundRow, head.first?.join()]).toEqual([native, undefined, row]);
    expect(read(text, "orders", { headerRow: 1 }).header).toEqual(["Orders"]);
    expect(read(text, "orders", { headerRow: 3 }).header).toEqual(["A", "B"]);
    expect(read("SAVE10\nSAVE20\n", "coupons", { headerRow: 1 }).format.hasNoHeader).toBeUndefined();
  });

  test("is refused if there is no such header", () => {
    const at =
      (headerRow: number, content = text) =>
      () =>
        read(content, "orders", { headerRow });
    expect(at(2)).toThrow("orders.csv: row 2 contains no column names");
    expect(at(6)).toThrow("orders.csv: row 6 cannot be the header, because the file has only 5 rows");
    expect(at(2, "a\n")).toThrow("the file has only 1 row");
    expect(at(3, `${"x".repeat(600_000)}\n`.repeat(4))).toThrow("it is not in the first 1 MiB");
  });

  test("does not apply to a reject file", () => {
    const rejects = `${native},_line,_column,_code,_reason\n${row},9,email,bad_email,x\n`;
    expect(read(rejects, "orders", { headerRow: 4 }).header.join()).toBe(`${native},_line,_column,_code,_reason`);
  });
});
