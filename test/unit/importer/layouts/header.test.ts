import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readFileHead } from "../../../../src/import/csv/file-format.ts";
import { matchHeader } from "../../../../src/import/mapping/header.ts";
import { kinds } from "../../../../src/records/index.ts";
import { layouts } from "../../../../src/records/layouts.ts";
import { detectLayout } from "../../../../src/import/layouts/choose-layout.ts";
import type { ImportOptions } from "../../../../src/import/options.ts";

function match(header: readonly string[], kind: string, options: Partial<ImportOptions> = {}) {
  const asked: ImportOptions = { dryRun: true, map: {}, ...options };
  const file = { given: "shop.csv", header, valuesOf: () => [] };
  return matchHeader(file, kinds[kind].prepare(asked), kind, asked);
}

const nativeOrders = "order_id,email,customer_name,order_date,product_id,product_name,product_url".split(",");
const shopify = "Name,Email,Created at,Lineitem quantity,Lineitem name,Lineitem sku,Billing Name".split(",");
const productUrl = "https://shop.example/p/{product_id}";

describe("recognising a layout", () => {
  test.each(readdirSync("fixtures/layouts"))("%s", (name) => {
    const { header } = readFileHead(join("fixtures/layouts", name), {});
    const kind = name.includes("orders") ? "orders" : "products";
    expect(detectLayout(header, kind)?.name).toBe(name.replace(/-(?:lines|v2)?\.?csv$|\.csv$/, ""));
    expect(detectLayout(header, kind === "orders" ? "products" : "orders")).toBeUndefined();
  });

  test("every layout is known by its own name, once", () => {
    const names = layouts.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  test("our own columns are ours, whatever else the header looks like", () => {
    expect(match([...nativeOrders, ...shopify.slice(2)], "orders").layout).toBeUndefined();
  });

  test("--layout goes before what the header looks like, and takes the short name", () => {
    expect(match(shopify, "orders", { productUrl }).layout?.name).toBe("shopify-orders");
    expect(match(shopify, "orders", { productUrl, layout: "shopify" }).layout?.name).toBe("shopify-orders");
    expect(() => match(shopify, "orders", { productUrl, layout: "none" })).toThrow(/columns order_id/);
    expect(() => match(shopify, "orders", { layout: "shopify-products" })).toThrow(/a layout of products/);
    expect(() => match(shopify, "orders", { layout: "excel" })).toThrow(/no layout that is known/);
  });
});

describe("what a file lacks", () => {
  test("addresses: the error names the flag, of a shop's file and of ours", () => {
    expect(() => match(shopify, "orders")).toThrow(/has no addresses of products/);
    expect(() => match(nativeOrders.slice(0, -1), "orders")).toThrow(/the column product_url is missing/);
    expect(match(nativeOrders.slice(0, -1), "orders", { productUrl }).fields).toBeDefined();
  });

  test("--set stands in for a required column, and an unknown field is named", () => {
    const header = nativeOrders.filter((name) => name !== "customer_name");
    expect(() => match(header, "orders")).toThrow(/customer_name is missing/);
    expect(match(header, "orders", { set: { customer_name: "Customer" } }).fields).toBeDefined();
    expect(() => match(header, "orders", { set: { costumer_name: "x" } })).toThrow(/no field costumer_name/);
  });

  test("the pattern names fields and columns, and nothing else", () => {
    const url = (pattern: string) => match(shopify, "orders", { productUrl: pattern });
    expect(url("https://shop.example/{Lineitem name}/{product_id}").fields).toBeDefined();
    expect(() => url("https://shop.example/{product_url}")).toThrow(/no column 'product_url'/);
    expect(() => url("https://shop.example/{slug}")).toThrow(/no column 'slug'/);
    expect(() => url("shop.example/{product_id}")).toThrow(/must begin with http/);
    expect(() => url("ftp://shop.example/{product_id}")).toThrow(/must begin with http/);
  });

  test.each([
    ["https://shop.example/p/{product_id", /a brace is not closed/],
    ["https://shop.example/p/product_id}", /a brace is not closed, or not opened/],
    ["https://shop.example/{product_id}/{", /a brace is not closed/],
    ["https://shop.example/{{product_id}}", /a brace is not closed/],
    ["https://shop.example/p", /every product the same address/],
  ])("the pattern %s is a mistake, and the hint shows one that is none", (pattern, why) => {
    const read = () => match(shopify, "orders", { productUrl: pattern });
    expect(read).toThrow(why);
    expect(read).toThrow(
      expect.objectContaining({ kind: "usage", hint: expect.stringContaining("{product_id}") }),
    );
  });

  test("a file of another kind of shop's export says which import it is for", () => {
    const message = () => match("Handle,Title,Body (HTML),Vendor,Variant Price".split(","), "orders");
    expect(message).toThrow(
      expect.objectContaining({ hint: expect.stringContaining("starpost products import") }),
    );
  });

  test("Magento's order grid, which has no products, is told apart", () => {
    const grid = "ID,Purchase Point,Purchase Date,Bill-to Name,Customer Email,Status".split(",");
    expect(() => match(grid, "orders", { productUrl })).toThrow(
      expect.objectContaining({ hint: expect.stringContaining("order grid has no products") }),
    );
  });
});

describe("the fields of a row", () => {
  const row = { cells: ["#7", "a@example.com", "2026-01-02", "3", "Mug/blue ü", "M 1", "Ada"] };
  const read = (options: Partial<ImportOptions>) => {
    const { fields } = match(shopify, "orders", { productUrl, ...options });
    if (!fields) throw new Error("the layout was not recognised");
    const view = (field: string): string =>
      fields.given(field, row, view) || fields.supplied(field, row, view);
    return view;
  };

  test("come from the layout, the pattern and the layout's own platform", () => {
    const view = read({ productUrl: "https://shop.example/{Lineitem name}?sku={product_id}" });
    expect(view("order_id")).toBe("7");
    expect(view("quantity")).toBe("3");
    expect(view("product_url")).toBe("https://shop.example/Mug/blue%20%C3%BC?sku=M%201");
    expect(view("platform")).toBe("shopify");
    expect(view("upc")).toBe("");
  });

  test("--map goes before the layout, and keeps how the field is written", () => {
    expect(read({ map: { order_id: "Lineitem sku" } })("order_id")).toBe("M 1");
    expect(read({ map: { customer_name: "Name" } })("customer_name")).toBe("#7");
    expect(read({ map: { order_id: "Name" } })("order_id")).toBe("7");
  });

  test("--set gives what a row has not, and --platform goes before the layout's", () => {
    const view = read({ set: { currency_iso: "EUR", customer_name: "Nobody" }, platform: "general" });
    expect(view("currency_iso")).toBe("EUR");
    expect(view("customer_name")).toBe("Ada");
    expect(view("platform")).toBe("general");
  });

  test("an address with a hole in it is none", () => {
    const { fields } = match([...shopify, "slug"], "orders", { productUrl: "https://shop.example/{slug}" });
    const view = (): string => "";
    expect(fields?.supplied("product_url", { cells: [...row.cells, ""] }, view)).toBe("");
  });
});
