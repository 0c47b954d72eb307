import { describe, expect, test } from "vitest";
import { ImportError } from "../../../../src/import/import-error.ts";
import { matchHeader } from "../../../../src/import/mapping/header.ts";
import type { ImportOptions } from "../../../../src/import/options.ts";
import { kinds } from "../../../support/record-kinds.ts";

/** Matches a file that is missing columns, and returns the error. */
function fail(kind: string, content: string, options: Partial<ImportOptions> = {}): ImportError {
  const [header = [], ...rows] = content.split("\n").map((line) => line.split(options.delimiter ?? ","));
  const asked: ImportOptions = { dryRun: true, map: {}, ...options };
  const valuesOf = (column: number) => rows.map((cells) => cells[column] ?? "");
  const found = kinds.get(kind);
  const reading = { kind: found, behavior: found.prepare(asked), options: asked };
  try {
    matchHeader({ argument: "shop files/f.csv", given: "f.csv", header, valuesOf }, reading, kinds);
  } catch (error) {
    if (error instanceof ImportError && error.kind === "usage") return error;
    throw error;
  }
  throw new Error("no column is missing");
}

const linesOf = (text = "") => text.split("\n");

const german = [
  "Auftrag,Kunde E-Mail,Kunde,Datum,Artikelnr,Bezeichnung,Link,Bild",
  "1001,anna@example.de,Anna Adler,2026-01-05,A1,Teekanne,https://laden.example/a1,https://laden.example/a1.jpg",
].join("\n");

const native = "order_id,customer_name,order_date,product_id,product_name,product_url";

describe("columns with other names", () => {
  test("lists the best column of each field with a value, within 80 columns", () => {
    const { message, hint, quotesCells } = fail("orders", german);
    const rows = linesOf(message)
      .slice(1)
      .map((line) => line.trim().split(/ {2,}/));
    expect(rows).toEqual([
      ["order_id", "'Auftrag'", '"1001"'],
      ["email", "'Kunde E-Mail'", '"anna@example.de"'],
      ["customer_name", "'Kunde'", '"Anna Adler"'],
      ["order_date", "'Datum'", '"2026-01-05"'],
      ["product_id", "'Artikelnr'", '"A1"'],
      ["product_name", "'Bezeichnung'", '"Teekanne"'],
      ["product_url", "'Link'", '"https://laden.example/a1"'],
    ]);
    expect(quotesCells).toBe(true);
    for (const line of [...linesOf(message), ...linesOf(hint)]) expect(line.length).toBeLessThanOrEqual(73);
  });

  test("prints flags that make the import work", () => {
    const { hint = "" } = fail("orders", german);
    expect(hint).toContain("starpost orders map 'shop files/f.csv' --out mapping.json");
    const pairs = [...hint.matchAll(/--map (?:'([^']+)'|(\S+))/g)].map(([, quoted, bare]) => quoted ?? bare ?? "");
    const map = Object.fromEntries(pairs.map((pair) => pair.split("=")));
    expect(Object.keys(map)).toHaveLength(7);
    expect(() => fail("orders", german, { map })).toThrow("no column is missing");
    // Lines that continue end with a backslash.
    const flags = linesOf(hint).filter((line) => line.includes("--map "));
    expect(flags.length).toBeGreaterThan(1);
    expect(flags.map((line) => line.endsWith(" \\"))).toEqual(flags.map((_, at) => at < flags.length - 1));
  });

  test("one missing column: names the best one, its value, and the flag", () => {
    const { message, hint } = fail(
      "orders",
      `${native},mail\n1,Ada,2026-01-01,p,Cup,https://shop.example/p,a@b.example`,
    );
    expect(message).toMatch(/missing column email.*'mail' \("a@b\.example"\)$/);
    expect(linesOf(hint)[0]).toMatch(/--map email=mail$/);
    expect(hint).toContain("starpost orders map");
  });

  test("uses values where the name says nothing, and skips empty cells", () => {
    const { message } = fail("orders", `${native},x\n1,Ada,2026-01-01,p,Cup,u,\n1,Ada,2026-01-01,p,Cup,u,a@b.example`);
    expect(message).toMatch(/'x' \("a@b\.example"\)$/);
  });

  test("offers no column twice, none that holds a field, and none of a reject file", () => {
    const { message } = fail("orders", "order_id,Datum,_reason,product_id\n1,2026-01-01,a@b.example,p");
    const columns = [...message.matchAll(/'([^']+)'/g)].map(([, column]) => column);
    expect(columns).toEqual(["Datum"]);
  });

  test("shortens long names and values without splitting characters", () => {
    const long = `Kunde E-Mail ${"x".repeat(80)}`;
    const { message } = fail("orders", `${long},Datum\n${"😀".repeat(60)}@b.example,2026-01-01`);
    expect(message.isWellFormed()).toBe(true);
    for (const line of linesOf(message)) expect(line.length).toBeLessThanOrEqual(73);
    expect(message).toContain("…");
  });
});

describe("fields that no column resembles", () => {
  test.each([
    ["orders", native.replace("customer_name,", "").concat(",email"), "--set customer_name='<value>'"],
    ["orders", native.concat(",x"), "--map email='<column>'"],
    ["orders", native.replace(",product_url", ",email"), "--store-url https://"],
    ["unsubscribers", "email", "--type <type>"],
  ])("%s with %s: %s", (kind, header, flag) => {
    const { message, hint } = fail(kind, header);
    expect(message).not.toContain("'");
    expect(linesOf(hint)[0]).toContain(flag);
  });

  test("among others: marks them, and leaves the column open", () => {
    const { message, hint } = fail("orders", "Auftrag,Datum\n1,2026-01-01");
    expect(message).toMatch(/\n {2}email +none\n/);
    expect(hint).toContain("--map email='<column>'");
    expect(hint).toContain("--map order_id=Auftrag");
  });

  test.each([
    ["a phone number", "Customer Phone", "+49 30 1234567", "customer_name"],
    ["no email address", "Email consent", "yes", "email"],
    ["no values", "product", "", "product_id"],
  ])("suggests no column with %s", (_, column, value, field) => {
    const own = `${native},email,note`.split(",").filter((name) => name !== field);
    const row = own.map((name) => (name === "note" ? "x y z" : "1"));
    const { message, hint } = fail("orders", `${[...own, column].join(",")}\n${[...row, value].join(",")}`);
    expect(message).toContain("no column resembles it");
    expect(linesOf(hint)[0]).toContain(`--map ${field}='<column>'`);
  });

  test("prefers an ID with values to an empty column", () => {
    const header = native.replace("product_id", "Product ID2,id");
    const { hint } = fail("orders", `${header},email\n1,Ada,2026-01-01,,p1,Cup,https://shop.example/p,a@b.example`);
    expect(linesOf(hint)[0]).toMatch(/--map product_id=id$/);
  });

  test("suggests no mapping if every column is in use", () => {
    const { hint } = fail("orders", "order_id,email,_reason,");
    expect(hint).toMatch(/contains only: order_id, email\n/);
    expect(hint).not.toContain("starpost orders map");
    expect(fail("orders", native).hint).not.toContain("starpost orders map");
    expect(fail("orders", `${native},x`).hint).toContain("starpost orders map");
  });

  test("lists the columns of the file, at most twelve of many", () => {
    const names = "abcdefghijklmno".split("");
    const { hint } = fail("orders", names.join(","));
    expect(hint).toContain("contains: a, b, c, d, e, f, g, h, i, j, k, l, and 3 more\n");
    expect(fail("orders", names.slice(0, 13).join(",")).hint).toContain("k, l, m\n");
    expect(hint).toContain("starpost orders map");
  });
});

describe("a first row that is no header", () => {
  test.each(["1,a@b.example,2026-01-01,p1,Tea", "2,€5.00,https://shop.example,Cup", "1,,,"])("data: %s", (row) => {
    expect(fail("orders", row).hint).toContain("\n  order_id,email,customer_name,order_date");
  });

  test.each(["a,b,c,1", "2nd address,b"])("names: %s", (row) => {
    expect(fail("orders", row).hint).not.toContain("\n  order_id,email");
  });

  test.each([
    ["order_id^e-mail^order_date", "--delimiter '^'"],
    ["order_id#e-mail#order_date!", "--delimiter '#'"],
  ])("another delimiter: %s", (header, flag) => {
    expect(fail("orders", header).hint).toContain(flag);
  });

  test("one separator is not enough, and a kind may have one column", () => {
    expect(fail("orders", "order id/date").hint).not.toContain("--delimiter");
    expect(fail("coupons", "a^b^c", { action: "map_review" }).hint).not.toContain("--delimiter");
  });

  test("a delimiter that the file does not have", () => {
    const { hint } = fail("orders", "order_id,email,order_date", { delimiter: ";" });
    expect(hint).toMatch(/remove --delimiter/);
  });
});

describe("a title instead of a header", () => {
  test.each(["Orders of January,,,", "Orders of January"])("names the flag for the row of the header: %j", (header) => {
    expect(fail("orders", `${header}\nRef,Mail`).hint).toMatch(/^the first row has .*--header-row <n>$/);
    expect(fail("orders", header, { headerRow: 2 }).hint).toMatch(/^row 2 has /);
  });

  test("is not assumed if the name may be that of a column", () => {
    expect(fail("orders", "order_id").hint).not.toContain("--header-row");
    expect(fail("unsubscribers", "E-Mail-Adresse\na@b.example").message).toContain("'E-Mail-Adresse'");
  });

  test("the suggested commands have the flag of the row", () => {
    const { hint } = fail("orders", german, { headerRow: 3 });
    expect(hint).toContain("starpost orders map 'shop files/f.csv' --header-row 3 --out mapping.json");
    const other = fail("reviews", `${native},email`, { headerRow: 3 });
    expect(other.hint).toContain("starpost orders import 'shop files/f.csv' --header-row 3");
  });
});

describe("layouts and kinds", () => {
  const trimmed = "Name,Email,Created at,Lineitem name,Lineitem sku,Billing Name";

  test("names a layout that has the columns, although its signature is incomplete", () => {
    expect(fail("orders", trimmed).hint).toContain("--layout shopify-orders");
    const { hint } = fail("orders", trimmed, { layout: "shopify-orders" });
    expect(hint).toContain("--store-url");
  });

  test("names none that lacks a required field", () => {
    expect(fail("orders", trimmed.replace("Email,", "")).hint).not.toContain("--layout");
    const { hint } = fail("orders", trimmed.replace("Email,", ""), { set: { email: "a@b.example" } });
    expect(hint).toContain("--layout shopify-orders");
  });

  test("suggests to detect the layout if the requested one does not fit", () => {
    expect(fail("orders", `${native},email`, { layout: "shopify" }).hint).toContain("remove --layout shopify");
  });

  test("offers only columns that the layout does not read", () => {
    const { message, hint } = fail("orders", trimmed.replace("Email", "E-Mail des Kunden"), {
      layout: "shopify-orders",
    });
    expect(message).toMatch(/read as a Shopify orders export/);
    expect(message).not.toContain("'Billing Name'");
    expect(hint).toContain("--map 'email=E-Mail des Kunden'");
  });

  test("names the command of the kind that the file looks like", () => {
    expect(fail("orders", "product_id,name,url\np,Cup,u").hint).toContain(
      "starpost products import 'shop files/f.csv'",
    );
  });
});

describe("a layout is suggested", () => {
  const suggestion = (kind: string, header: string) => fail(kind, header).hint ?? "";

  test.each([
    ["orders", "shopify-orders", "Name,Email,Created at,Lineitem name,Lineitem sku,Shipping Name"],
    ["orders", "woocommerce-orders", "Order ID,Email (Billing),First Name (Billing),Order Date,SKU,Item Name"],
    ["products", "shopify-products", "Handle,Name,Title,Body (HTML),Variant SKU"],
    ["products", "woocommerce-products", "ID,SKU,Name,Regular price"],
    ["products", "magento-products", "sku,name,product_type,store_view_code,price"],
    ["reviews", "stamped", "product_id,review_id,author,email,rating,body,created_at"],
  ])("for %s if the file has the distinctive columns: %s", (kind, layout, header) => {
    expect(suggestion(kind, header)).toContain(`to read it as one, pass --layout ${layout}`);
  });

  test.each([
    ["orders", "Name,Email,Total"],
    ["orders", "Name,Email,Created at,Billing Name,Total,SKU"],
    ["orders", "Name,Email,Created at,Billing Name,Lineitem name,Product"],
    ["orders", "Order ID,Email,Created at,Customer,SKU,Item"],
    ["orders", "Order Number,Order Date,Email,Customer,Product ID,Product Name"],
    ["orders", "ID,Date,Status,Customer,Email,Product,SKU"],
    ["orders", "Date,Order,Status,Customer,Products,Email"],
    ["orders", "sku,name,email,price,quantity,status"],
    ["products", "ID,Name,Description,Price"],
    ["products", "ID,Type,SKU,Name,Price"],
    ["products", "Item,ID,Name,SKU"],
    ["products", "sku,name,description,price,url_key"],
    ["products", "Handle,Title,Vendor,Price"],
    ["products", "handle,sku,name,description,tags"],
    ["reviews", "title,body,rating,author,email,created_at,product_id"],
    ["reviews", "product_handle,state,rating,author,email,body,date"],
    ["reviews", "Product ID,Review,Rating,Name,Email,Date"],
    ["unsubscribers", "Name,Phone,Company"],
    ["unsubscribers", "Last Name,Accepts Marketing"],
  ])("for %s never by general columns: %s", (kind, header) => {
    let hint = "";
    try {
      hint = suggestion(kind, header);
    } catch {
      // The file can be imported without a layout.
    }
    expect(hint).not.toContain("--layout");
  });
});
