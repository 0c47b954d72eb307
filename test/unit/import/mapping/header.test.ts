import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readFileHead } from "../../../../src/import/csv/file-format.ts";
import { matchHeader } from "../../../../src/import/mapping/header.ts";
import { kinds } from "../../../support/record-kinds.ts";
import { detectLayout, findIgnored } from "../../../../src/import/layouts/choose-layout.ts";
import type { ImportOptions } from "../../../../src/import/options.ts";

function match(header: readonly string[], kind: string, options: Partial<ImportOptions> = {}) {
  const asked: ImportOptions = { dryRun: true, map: {}, ...options };
  const file = { argument: "f.csv", given: "shop.csv", header, valuesOf: () => [] };
  const found = kinds.get(kind);
  return matchHeader(file, { kind: found, behavior: found.prepare(asked), options: asked }, kinds);
}

const nativeOrders = "order_id,email,customer_name,order_date,product_id,product_name,product_url".split(",");
const shopify = "Name,Email,Created at,Lineitem quantity,Lineitem name,Lineitem sku,Billing Name".split(",");
const productUrl = "https://shop.example/p/{product_id}";

describe("detecting a layout", () => {
  test.each(readdirSync("fixtures/layouts"))("%s", (name) => {
    const { header } = readFileHead(join("fixtures/layouts", name), {});
    const kind = name.includes("orders") ? "orders" : "products";
    expect(detectLayout(header, kinds.get(kind).layouts)?.name).toBe(
      name.replace(/-(?:lines|v2|de|es|fr)?\.?csv$|\.csv$/, ""),
    );
    expect(detectLayout(header, kinds.get(kind === "orders" ? "products" : "orders").layouts)).toBeUndefined();
  });

  test("layout names are unique", () => {
    const names = kinds.all.flatMap(({ layouts }) => layouts.map(({ name }) => name));
    expect(new Set(names).size).toBe(names.length);
  });

  test("native columns take precedence over a layout", () => {
    expect(match([...nativeOrders, ...shopify.slice(2)], "orders").layout).toBeUndefined();
  });

  test("--layout takes precedence over detection and accepts the short name", () => {
    expect(match(shopify, "orders", { productUrl }).layout?.name).toBe("shopify-orders");
    expect(match(shopify, "orders", { productUrl, layout: "shopify" }).layout?.name).toBe("shopify-orders");
    expect(() => match(shopify, "orders", { productUrl, layout: "none" })).toThrow(/order_id/);
    expect(() => match(shopify, "orders", { layout: "shopify-products" })).toThrow(
      /"shopify-products" for --layout.*products/,
    );
    expect(() => match(shopify, "orders", { layout: "excel" })).toThrow(/"excel" for --layout/);
  });
});

describe("ignored columns", () => {
  test("are those with a name that no field has", () => {
    const header = [...nativeOrders, "", "Notes", "_line", "_reason", "mail"];
    expect(match(header, "orders").ignored).toEqual(["Notes", "mail"]);
    expect(match(header, "orders", { map: { email: "mail" } }).ignored).toEqual(["email", "Notes"]);
  });

  test("of a file with a layout are those that neither the layout nor a flag reads", () => {
    const header = [...shopify, "Notes", "Tags", "", "_line", "product_url", "Id", "Color"];
    expect(match(header, "orders").ignored).toEqual(["Notes", "Tags", "Id", "Color"]);
    const flags = { map: { user_reference: "Notes" }, productUrl: "https://shop.example/{product_id}/{Id|Color}" };
    expect(match(header, "orders", flags).ignored).toEqual(["Tags"]);
    expect(match([...nativeOrders, "Id"], "orders", { productUrl: "https://shop.example/{Id}" }).ignored).toEqual([]);
    const lines = ["order_id", "billing_email", "billing_first_name", "status", "line_item_1", "line_item_2", "other"];
    expect(match([...lines, "order_date"], "orders", { productUrl }).ignored).toEqual(["other"]);
  });

  test("are none that a function of a layout reads", () => {
    for (const layout of kinds.all.flatMap(({ layouts }) => layouts)) {
      const { groups, lines } = layout;
      for (const value of ["", "0", "1", "variable", "variation", "not visible individually"]) {
        const read = new Set<string>();
        const cell = (column: string) => {
          read.add(column);
          return value;
        };
        if (groups && "family" in groups.by) groups.by.family(cell);
        if (groups && "start" in groups.by) groups.by.start(cell);
        groups?.isNoLine?.(cell);
        groups?.lead?.is(cell);
        groups?.replies?.is(cell, () => "another");
        lines?.read(cell, ["line_items", "line_item_1"]);
        expect([layout.name, ...findIgnored([...read], layout)]).toEqual([layout.name]);
      }
    }
  });

  test("two columns of one field are refused, unless one is selected", () => {
    const read = (header: readonly string[], map = {}) => match(header, "orders", { map });
    expect(() => read([...nativeOrders, "email"])).toThrow(/'email'/);
    expect(() => read([...nativeOrders, "Email"])).toThrow(
      expect.objectContaining({ kind: "usage", hint: expect.stringContaining("--map email='email'") }),
    );
    const { columnOf, ignored } = read([...nativeOrders, "Email"], { email: "Email" });
    expect([columnOf.get("email"), ignored]).toEqual([nativeOrders.length, ["email"]]);
  });
});

describe("missing columns", () => {
  test("reports missing product URLs for layouts and native columns", () => {
    expect(() => match(shopify, "orders")).toThrow(/no product URLs/);
    expect(() => match(nativeOrders.slice(0, -1), "orders")).toThrow(/product_url/);
    expect(match(nativeOrders.slice(0, -1), "orders", { productUrl }).fields).toBeDefined();
  });

  test("--set replaces a required column and rejects an unknown field", () => {
    const header = nativeOrders.filter((name) => name !== "customer_name");
    expect(() => match(header, "orders")).toThrow(/customer_name/);
    expect(match(header, "orders", { set: { customer_name: "Customer" } }).fields).toBeDefined();
    expect(() => match(header, "orders", { set: { costumer_name: "x" } })).toThrow(/costumer_name/);
  });

  test("a URL pattern accepts only fields and columns", () => {
    const url = (pattern: string) => match(shopify, "orders", { productUrl: pattern });
    expect(url("https://shop.example/{Lineitem name}/{product_id}").fields).toBeDefined();
    expect(() => url("https://shop.example/{product_url}")).toThrow(/no column 'product_url'/);
    expect(() => url("https://shop.example/{slug}")).toThrow(/no column 'slug'/);
    expect(() => url("shop.example/{product_id}")).toThrow(/must begin with http/);
    expect(() => url("ftp://shop.example/{product_id}")).toThrow(/must begin with http/);
  });

  test.each([
    ["https://shop.example/p/{product_id", /brace/],
    ["https://shop.example/p/product_id}", /brace/],
    ["https://shop.example/{product_id}/{", /brace/],
    ["https://shop.example/{{product_id}}", /brace/],
    ["https://shop.example/p", /the same URL/],
  ])("rejects the URL pattern %s with a valid example in the hint", (pattern, why) => {
    const read = () => match(shopify, "orders", { productUrl: pattern });
    expect(read).toThrow(why);
    expect(read).toThrow(expect.objectContaining({ kind: "usage", hint: expect.stringContaining("{product_id}") }));
  });

  test("suggests the right import for an export of another kind", () => {
    const message = () => match("Handle,Title,Body (HTML),Vendor,Variant Price".split(","), "orders");
    expect(message).toThrow(expect.objectContaining({ hint: expect.stringContaining("starpost products import") }));
  });

  test.each([
    ["reviews", "title,body,rating,review_date", "starpost reviews map"],
    ["unsubscribers", "email", "--type"],
    ["orders", "order_id,mail,customer_name,order_date,product_id,product_name,product_url", "--map email=mail"],
  ])("suggests a fix for %s with the columns %s", (kind, header, hint) => {
    const read = () => match(header.split(","), kind);
    expect(read).toThrow(expect.objectContaining({ kind: "usage", hint: expect.stringContaining(hint) }));
  });

  test("explains that the Magento order grid has no products", () => {
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
    if (!fields) throw new Error("the layout was not recognized");
    const view = (field: string): string => fields.given(field, row, view) || fields.supplied(field, row, view);
    return view;
  };

  test("come from the layout, the URL pattern, and the layout constants", () => {
    const view = read({ productUrl: "https://shop.example/{Lineitem name}?sku={product_id}" });
    expect(view("order_id")).toBe("7");
    expect(view("quantity")).toBe("3");
    expect(view("product_url")).toBe("https://shop.example/Mug/blue%20%C3%BC?sku=M%201");
    expect(view("platform")).toBe("shopify");
    expect(view("upc")).toBe("");
  });

  test("--map takes precedence over the layout and keeps its conversion", () => {
    expect(read({ map: { order_id: "Lineitem sku" } })("order_id")).toBe("M 1");
    expect(read({ map: { customer_name: "Name" } })("customer_name")).toBe("#7");
    expect(read({ map: { order_id: "Name" } })("order_id")).toBe("7");
  });

  test("--set fills in missing values, and --platform takes precedence over the layout", () => {
    const view = read({ set: { currency_iso: "EUR", customer_name: "Nobody" }, platform: "general" });
    expect(view("currency_iso")).toBe("EUR");
    expect(view("customer_name")).toBe("Ada");
    expect(view("platform")).toBe("general");
  });

  test("a URL with an empty placeholder is empty", () => {
    const { fields } = match([...shopify, "slug"], "orders", { productUrl: "https://shop.example/{slug}" });
    const view = (): string => "";
    expect(fields?.supplied("product_url", { cells: [...row.cells, ""] }, view)).toBe("");
  });
});
