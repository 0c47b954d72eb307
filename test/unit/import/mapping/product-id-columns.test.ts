import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { matchHeader } from "../../../../src/import/mapping/header.ts";
import { applyMapping } from "../../../../src/import/mapping/mapping-file.ts";
import type { ImportOptions } from "../../../../src/import/options.ts";
import { kinds } from "../../../support/record-kinds.ts";
import { useTemporaryFolder } from "../../../support/temporary-folder.ts";

const folder = useTemporaryFolder();

const productUrl = "https://shop.example/p/{product_id}";
const orders = kinds.get("orders");

/** The product ID that a row gets. */
function readId(header: readonly string[], cells: readonly string[], options: Partial<ImportOptions>) {
  const asked: ImportOptions = { dryRun: true, map: {}, productUrl, ...options };
  const file = { argument: "f.csv", given: "shop.csv", header, valuesOf: () => [] };
  const columns = matchHeader(file, { kind: orders, behavior: orders.prepare(asked), options: asked }, kinds);
  return { id: columns.fields?.given("product_id", { cells }, () => ""), column: columns.columnOf.get("product_id") };
}

const shopify = "Name,Email,Created at,Lineitem quantity,Lineitem name,Lineitem sku,Billing Name,Handle".split(",");
const native = "order_id,email,customer_name,order_date,sku,product_name,product_url".split(",");
const row = ["#1", "a@mail.example", "2026-01-02", "1", "Tea pot", "", "Ann", "tea"];

test.each([
  [["sku"], ""],
  [["sku", "name"], "Tea pot"],
  [["name", "sku"], "Tea pot"],
  [["sku", "handle", "name"], "tea"],
])("a Shopify row without a SKU gets its product ID from %s", (productIdFrom, id) => {
  expect(readId(shopify, row, { productIdFrom }).id).toBe(id);
  expect(readId(shopify, row.with(5, "S-1"), { productIdFrom: ["sku", "name"] })).toEqual({ id: "S-1", column: 5 });
});

test("native columns may lack product_id", () => {
  const cells = ["1", "a@mail.example", "Ann", "2026-01-02", "S-1", "Tea pot", "https://shop.example/1"];
  expect(() => readId(native, cells, {})).toThrow(/product_id/);
  expect(readId(native, cells, { productIdFrom: ["sku"] })).toEqual({ id: "S-1", column: 4 });
  expect(readId(native, cells, { productIdFrom: ["name"] })).toEqual({ id: "Tea pot", column: 5 });
  expect(
    readId(native, cells, { productIdFrom: ["sku"], map: { sku: "product_url" }, set: { product_url: productUrl } }).id,
  ).toBe("https://shop.example/1");
});

test("refuses unknown names, columns that the file lacks, and a second source", () => {
  const id = (productIdFrom: readonly string[], more: Partial<ImportOptions> = {}) =>
    readId(shopify.slice(0, 7), row, { productIdFrom, ...more });
  expect(() => id(["sku", "slug"])).toThrow(/"sku,slug" for --product-id-from: unknown column "slug"/);
  expect(() => id(["handle"])).toThrow(/shop.csv has no column for "handle"/);
  expect(() => id(["id"])).toThrow(expect.objectContaining({ hint: "columns of this file: sku, name" }));
  expect(() => id(["name"], { map: { product_id: "Email" } })).toThrow(/--map product_id/);
});

test("a flag overrides the source of a mapping file", () => {
  const write = (name: string, mapping: object) => {
    writeFileSync(join(folder, name), JSON.stringify({ format: 1, kind: "orders", ...mapping }));
    return (options: Partial<ImportOptions> = {}) => {
      const { map, productIdFrom } = applyMapping(orders, { dryRun: true, map: {}, mapping: name, ...options }, folder);
      return { map, productIdFrom };
    };
  };
  const listed = write("listed.json", { product_id_from: ["sku", "name"] });
  expect(listed()).toEqual({ map: {}, productIdFrom: ["sku", "name"] });
  expect(listed({ productIdFrom: ["name"] }).productIdFrom).toEqual(["name"]);
  const map = { "Product-ID": "Email" };
  expect(listed({ map })).toEqual({ map, productIdFrom: undefined });
  const mapped = write("mapped.json", { columns: { product_id: "Email", sku: "SKU" } });
  expect(mapped().map).toEqual({ product_id: "Email", sku: "SKU" });
  expect(mapped({ productIdFrom: ["sku"] })).toEqual({ map: { sku: "SKU" }, productIdFrom: ["sku"] });
  expect(write("empty.json", { product_id_from: [] })).toThrow(/product_id_from: is empty/);
});
