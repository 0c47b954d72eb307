import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readFileHead } from "../../../../src/import/csv/file-format.ts";
import { findBetterKind, findCompleteKind } from "../../../../src/import/mapping/other-kind.ts";
import { kinds } from "../../../support/record-kinds.ts";

const better = (header: readonly string[], kind: string) => findBetterKind(header, kinds.get(kind), kinds)?.name;
const complete = (header: readonly string[], kind: string) => findCompleteKind(header, kinds.get(kind), kinds)?.name;
const split = (header: string) => header.split(",");
const headerOf = (file: string) => readFileHead(file, {}).header;
const rejected = ["_line", "_column", "_code", "_reason"];

describe("the kind of a file", () => {
  test.each(kinds.all.map(({ name, columns }) => [name, columns] as const))(
    "is its own for an export of %s, its required columns, and its reject file",
    (name, columns) => {
      const { fields } = kinds.get(name);
      const required = fields.filter((field) => field.required).map((field) => field.name);
      for (const header of [columns, required, [...columns, ...rejected], [...required, "Notes", ...rejected]]) {
        expect(better(header, name)).toBeUndefined();
      }
    },
  );

  test.each(readdirSync("fixtures/layouts"))("is its own for %s", (file) => {
    const header = headerOf(join("fixtures/layouts", file));
    const kind = file.includes("orders") ? "orders" : "products";
    expect(better(header, kind)).toBeUndefined();
    expect(complete(header, kind === "orders" ? "products" : "orders")).toBe(kind);
  });

  test.each([
    ["orders.csv", "orders"],
    ["products.csv", "products"],
    ["reviews.csv", "reviews"],
    ["shopify-orders-export.csv", "orders"],
    ["shopify-products-export.csv", "products"],
    ["woocommerce-products-export.csv", "products"],
  ])("is recognized by every other kind: %s", (file, kind) => {
    const header = headerOf(join("fixtures/exports", file));
    expect(better(header, kind)).toBeUndefined();
    for (const { name } of kinds.all.filter((other) => other.name !== kind)) {
      expect(complete(header, name), name).toBe(kind);
    }
  });

  test.each([
    ["unsubscribers", "order_id,order_date,customer_name,email,product_id,product_name,product_url", "orders"],
    ["unsubscribers", "order_id,order_date,customer_name,email,product_id,product_name", "orders"],
    ["unsubscribers", "Name,Email,Created at,Lineitem quantity,Lineitem name,Lineitem sku", "orders"],
    ["unsubscribers", "review_title,review_content,review_score,date,product_id,display_name,email", "reviews"],
    ["unsubscribers", "Review Title,Review Content,Review Score,Date,Product ID,Display Name,Email", "reviews"],
    ["unsubscribers", "Order ID,Email,Paid at,Created at,Lineitem name,Lineitem price,Billing Name", "orders"],
    ["unsubscribers", "product_handle,state,rating,title,author,email,body,reply,created_at", "reviews"],
    ["groups", "product_id,name,url", "products"],
    ["coupons", "email,type", "unsubscribers"],
    ["products", "order_id,order_date,customer_name,email,product_id,product_name,product_url", "orders"],
    ["products", "Product ID,Product Name,Product URL,Order ID,Order Date,Email,Customer Name", "orders"],
  ])("is better than %s for %s", (kind, header, expected) => {
    expect(better(split(header), kind)).toBe(expected);
    expect(better([...split(header), ...rejected], kind)).toBe(expected);
  });

  test.each([
    ["unsubscribers", "email"],
    ["unsubscribers", "Email,First Name,Last Name,Country,Date Added,Source,Title"],
    ["unsubscribers", "user email,type"],
    ["unsubscribers", "email,customer_name,product_id"],
    [
      "unsubscribers",
      "Customer ID,First Name,Last Name,Email,Accepts Email Marketing,Tags,Total Spent,Total Orders,Note",
    ],
    ["unsubscribers", "email,name,date,subject,status,id,product_id"],
    ["products", "product_id,name,url,email,order_date"],
    ["products", "product_id,name,url,group"],
    ["groups", "group,product_id,name,url,price"],
    ["groups", "group_name,product_id,notes"],
    ["coupons", "code,email"],
  ])("is %s for %s", (kind, header) => {
    expect(better(split(header), kind)).toBeUndefined();
  });

  test("is not that of a file which only lacks a column of its own kind", () => {
    const header = split("order_id,order_date,customer_name,emial,product_id,product_name,product_url,product_price");
    expect(complete(header, "orders")).toBeUndefined();
  });
});
