import { expect, test } from "vitest";
import { matchHeader } from "../../../../src/import/mapping/header.ts";
import { applyMapping } from "../../../../src/import/mapping/mapping-file.ts";
import type { ImportOptions } from "../../../../src/import/options.ts";
import { readDateFormat } from "../../../../src/cli/program/flag-values.ts";
import { kinds } from "../../../support/record-kinds.ts";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const native = "order_id,email,customer_name,order_date,product_id,product_name,product_url,Datum".split(",");
const shopify = "Name,Email,Created at,Lineitem quantity,Lineitem name,Lineitem sku,Billing Name,Datum".split(",");
const reviews = "product_id,review_title,review_content,review_score,date,display_name,email,Datum".split(",");

/** The date of a row with this value in the column, and the order that was found. */
function readDay(kind: string, header: readonly string[], column: string, dates: readonly string[], options = {}) {
  const asked: ImportOptions = { dryRun: true, map: {}, productUrl: "https://shop.example/{product_id}", ...options };
  const found = kinds.get(kind);
  const at = header.indexOf(column);
  const file = {
    argument: "f.csv",
    given: "shop.csv",
    header,
    valuesOf: (wanted: number) => (wanted === at ? dates : []),
  };
  const { fields, dateOrder } = matchHeader(
    file,
    { kind: found, behavior: found.prepare(asked), options: asked },
    kinds,
  );
  const cells = header.map((name) => (name === column ? (dates.at(-1) ?? "") : "x"));
  const day = fields?.given(kind === "reviews" ? "date" : "order_date", { cells }, () => "");
  return { day, dateOrder };
}

test.each([
  ["orders", native, "order_date"],
  ["orders", shopify, "Created at"],
  ["reviews", reviews, "date"],
])("dates of %s with the columns %s are read in the order that all of them show", (kind, header, column) => {
  expect(readDay(kind, header, column, ["13/02/2026", "01/02/2026"])).toEqual({
    day: "2026-02-01",
    dateOrder: "day-first",
  });
  expect(() => readDay(kind, header, column, ["01/02/2026"])).toThrow(/01\/02\/2026/);
  const asked = (dateFormat: string) => readDay(kind, header, column, ["01/02/2026"], { dateFormat }).day;
  expect([asked("dmy"), asked("mdy"), asked("ymd")]).toEqual(["2026-02-01", "2026-01-02", "01/02/2026"]);
  expect(readDay(kind, header, column, ["26/01/02"], { dateFormat: "ymd" }).day).toBe("2026-01-02");
});

test("the order of a mapped column counts", () => {
  const map = { order_date: "Datum" };
  for (const header of [native, shopify]) {
    expect(readDay("orders", header, "Datum", ["02/13/2026", "01/02/2026"], { map }).day).toBe("2026-01-02");
  }
  expect(readDay("orders", native, "Datum", ["13/02/2026"]).dateOrder).toBeUndefined();
});

test("a column without dates of three numbers has no order, and native rows are read directly", () => {
  expect(readDay("orders", native, "order_date", ["2026-02-01"], { productUrl: undefined })).toEqual({
    day: undefined,
    dateOrder: undefined,
  });
});

test("--date-format takes precedence over the name of a layout and over a mapping file", () => {
  const header = "Order ID,Order Date,Customer Email,Customer Name,Product ID,Product Name".split(",");
  const layout = "bigcommerce-orders-dmy";
  expect(readDay("orders", header, "Order Date", ["01/02/2026"], { layout }).day).toBe("2026-02-01");
  const both = { layout, dateFormat: "mdy" };
  expect(readDay("orders", header, "Order Date", ["01/02/2026"], both).day).toBe("2026-01-02");
  const folder = mkdtempSync(join(tmpdir(), "starpost-test-"));
  try {
    writeFileSync(join(folder, "m.json"), JSON.stringify({ format: 1, kind: "orders", date_format: "dmy" }));
    writeFileSync(join(folder, "bad.json"), JSON.stringify({ format: 1, kind: "orders", date_format: "dd/mm" }));
    const apply = (mapping: string, dateFormat?: "mdy") =>
      applyMapping(kinds.get("orders"), { dryRun: true, map: {}, mapping, dateFormat }, folder).dateFormat;
    expect([apply("m.json"), apply("m.json", "mdy")]).toEqual(["dmy", "mdy"]);
    expect(() => apply("bad.json")).toThrow(/date_format: must be one of dmy, mdy, ymd/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("the flag accepts an order or a pattern with that order", () => {
  const read = (text: string) => readDateFormat(text, "--date-format");
  expect(["dmy", "DD/MM/YYYY", "d.m.yy", "MM-DD-YYYY", "yyyy-mm-dd"].map(read)).toEqual([
    "dmy",
    "dmy",
    "dmy",
    "mdy",
    "ymd",
  ]);
  for (const text of ["ydm", "", "dd/mm", "european", "dmyd"]) expect(() => read(text)).toThrow(/--date-format/);
});
