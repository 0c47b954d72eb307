import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { gzipSync } from "node:zlib";
import iconv from "iconv-lite";
import { describe, expect, test } from "vitest";
import type { ImportOptions } from "../../../../src/import/options.ts";
import { findCases } from "../../../support/planned-imports.ts";
import { formatRecorded, recordImport } from "../../../support/recorded-import.ts";

type Content = Parameters<typeof recordImport>[1];

const productUrl = "https://shop.example/{product_id}";

/** Compares all that an import does with the snapshot; `vitest --update` writes it after an intended change. */
async function expectRecorded(kind: string, content: Content, options: Partial<ImportOptions>) {
  expect(formatRecorded(await recordImport(kind, content, options))).toMatchSnapshot();
}

describe("fixtures", () => {
  const cases = findCases(["fixtures/layouts", "fixtures/bad", "fixtures/good"]).map(
    ({ file, kind }) => [file.slice("fixtures/".length, -".csv".length), kind, file] as const,
  );

  test.each(cases)("%s", async (_name, kind, file) => {
    await expectRecorded(kind, { [basename(file)]: readFileSync(file) }, { productUrl, action: "map_review" });
  });
});

const product = (id: string, name: string, more = "") => `${id},${name},https://shop.example/p${more}\n`;
const productHeader = "product_id,name,url";
const orderHeader =
  "order_id,email,customer_name,order_date,currency_iso,user_reference,platform,product_id,product_name,product_url,product_price,sku";
const order = (cells: Readonly<Record<string, string>>) => {
  const all: Readonly<Record<string, string>> = {
    order_id: "o1",
    email: "ann@shop.example",
    customer_name: "Ann",
    order_date: "2026-01-02",
    product_id: "p1",
    product_name: "Cup",
    product_url: "https://shop.example/p1",
    ...cells,
  };
  return `${orderHeader
    .split(",")
    .map((name) => all[name] ?? "")
    .join()}\n`;
};

describe("products", () => {
  const optional = `${productHeader},description,price,currency_iso,blacklisted,sku,upc,product_tags\n`;
  const cases: Readonly<Record<string, readonly [Content, Partial<ImportOptions>?]>> = {
    "values of all fields": [
      optional +
        product("p1", "Cup", ",Blue,1.5,EUR,yes,AB-1,4006381333931,a") +
        product("p2", "Mug", ",,1.234,USD,N,,,") +
        product("p3", "Pot", ',,"1,50 €",EUR,0,x y,,'),
    ],
    "invalid values": [
      optional +
        product("", "Cup", ",,,,,,,") +
        product("p 1", "Cup", ",,,,,,,") +
        product("p1", "", ",,,,,,,") +
        "p2,Cup,shop.example/p,,,,,,,\n" +
        product("p3", "Cup", ",,free,EUR,,,,") +
        product("p4", "Cup", ',,"R$ 1,234",,,,,') +
        product("p5", "Cup", ",,5,EURO,,,,") +
        product("p6", "Cup", ",,,,maybe,,,") +
        product("p7", "x".repeat(1_100), ",,,,,,,") +
        product("p8", "Cup", `,${"x".repeat(70_000)},,,,,,`) +
        product("p".repeat(256), "Cup", ",,,,,,,"),
    ],
    "values damaged by spreadsheets": [
      optional +
        product("#N/A", "Cup", ",,,,,,,") +
        product("p1", "#REF!", ",#NAME?,,,,,,") +
        product("1.23E+12", "1.23E+12", ",,,,,,,") +
        product("p2", "Cup", ",,,,,4E+12,,") +
        product("p3", '"=""Cup"""', ",,,,,,,") +
        product("p4", "=1", ",,,,,4E-12,1E+3x,"),
    ],
    "specs that the service drops": [
      optional +
        product("p1", "Cup", ",,,,,a b,,") +
        product("p2", "Mug", ",,,,,a b,x y,") +
        product("p3", "Pot", `,,,,,${"7".repeat(300)},,`),
    ],
    "invalid IDs, rewritten": [
      optional +
        product("p 1", "Cup", ",,,,,a b,x y,") +
        product("p 1", "Cup", ",,,,,a b,,") +
        product("p2", "Mug", ",,,,,,,"),
      { fixIds: true },
    ],
    "empty cells, kept": [optional + product("p1", "Cup", ",,,,,,,")],
    "empty cells, erased by an update": [
      optional + product("p1", "Cup", ",,,,,,,") + product("p2", "", ",Blue,,,,,,"),
      { empty: "clear", update: true },
    ],
    "empty cells, not erased by a creation": [optional + product("p1", "Cup", ",,1,,,,,"), { empty: "clear" }],
    "empty cells, rejected": [
      `${productHeader},description,price\n${product("p1", "Cup", ",,1")}${product("p2", "Cup", ",Blue,")}${product("p3", "Cup", ",Blue,2")}${product("p4", "", ",#REF!,")}`,
      { empty: "error" },
    ],
    "rows of one product": [
      optional +
        product("p1", "Cup", ",Blue,1,,,a,,") +
        product("p2", "Mug", ",,,,,,,") +
        product("p1", "Large cup", ",,2,EUR,,,12345678,") +
        product("p1", "", ",,2,EUR,,,,"),
    ],
    "blank rows, blanks around cells, and rows of another width": [
      `${productHeader}\n p1 ,\tCup,https://shop.example/p \n,,\n  , ,\np2,Mug,https://shop.example/p,,\np3,Pot\np4,Pan,https://shop.example/p,x\n"",,""\n`,
    ],
    "texts of an export": [
      `product_id,name,url,image_url,description,currency_iso,price,product_tags,blacklisted,upc,mpn,brand,isbn,sku,external_sku\np1,' Cup ,https://shop.example/p,, Blue ,EUR, 1 ,,,,,,,,\np2, Cup,https://shop.example/p,,'=Blue,EUR,1,,,,,,,,\n`,
    ],
    "broken quotes, NUL bytes, and line breaks": [
      `${productHeader}\r\np1,"Cu""p",https://shop.example/p\r\np2,"Mug,https://shop.example/p\r\np3,"a\r\nb",https://shop.example/p\r\np4,P\0t,https://shop.example/p\r\np5,"x"y,https://shop.example/p\r\n`,
    ],
    "corrected rejects": [
      `${productHeader},_line,_column,_code,_reason\np1,"""Cup",https://shop.example/p,2,,bad_quote,x\np2,"Mug ""small""",https://shop.example/p,3,,bad_quote,x\np3,"""Pot""",https://shop.example/p,4,,bad_quote,x\np4,"""Pan",https://shop.example/p,5,name,missing,x\np5,"""a""b""",https://shop.example/p,6,,bad_quote,x\np6,"""",https://shop.example/p,7,,bad_quote,x\n`,
    ],
    "several files": [
      {
        "a.csv": `${productHeader},price\n${product("p1", "Cup", ",x")}${product("p2", "Mug", ",1")}`,
        "b.csv": `name;product_id;url\nPot;p3;https://shop.example/p\n;p4;https://shop.example/p\n`,
      },
    ],
    "unknown columns, and other names of columns": [
      `Product ID,Product-Name,PRODUCT URL,color,Product Price,\np1,Cup,https://shop.example/p,red,5,\n`,
    ],
    "mapped columns and values for all rows": [
      "code,title,link,name\np1,Cup,https://shop.example/p,no\np2,,https://shop.example/p,no\n",
      { map: { product_id: "code", name: "title", url: "LINK" }, set: { currency_iso: "EUR", price: "5" } },
    ],
    "a column that is mapped twice": ["a,b\n1,2\n", { map: { product_id: "a", name: "a", url: "b" } }],
    "an unknown field": ["a,b\n1,2\n", { map: { product: "a" } }],
    "an unknown column": [`${productHeader}\n`, { map: { description: "text" } }],
    "two columns of one name": ["product_id,name,url,name\np1,a,b,c\n"],
    "two columns for one field": ["product_id,name,url,product name\np1,a,b,c\n"],
    "a missing column like another": ["product_id,names,url\np1,a,b\n"],
    "several missing columns": ["a,b,c,d,e,f,g,h,i,j,k,l,m,n,o\n"],
    "URLs of a pattern": [
      "product_id,name,path\np1,Cup,a b/c\np2,Mug,\np3,é,%\n",
      { productUrl: "https://shop.example/{path}/{Product ID}" },
    ],
    "a pattern with an unknown field": ["product_id,name,url\n", { productUrl: "https://shop.example/{path}" }],
    "too many errors": [
      `${productHeader}\n${product("", "").repeat(5)}${product("p1", "Cup").repeat(5)}`,
      { maxErrors: { count: 3 } },
    ],
    "too many errors, in percent": [
      `${productHeader}\n${product("", "").repeat(5)}${product("p1", "Cup").repeat(5)}`,
      { maxErrors: { percent: 30 } },
    ],
    "as many errors as allowed": [
      `${productHeader}\n${product("", "").repeat(5)}${product("p1", "Cup").repeat(5)}`,
      { maxErrors: { percent: 50 } },
    ],
    "small calls": [
      `${productHeader}\n${["a", "b", "c", "d", "e"].map((id) => product(id, id)).join("")}`,
      { batchSize: 2 },
    ],
    "a dry run": [`${productHeader}\n${product("p1", "Cup")}${product("", "Cup")}`, { dryRun: true }],
    "a declared delimiter": [`sep=|\nproduct_id|name|url\np1|Cup|https://shop.example/p\n|x|\n`],
    "a given delimiter": [`product_id^name^url\np1^Cup, blue^https://shop.example/p\n`, { delimiter: "^" }],
    "UTF-16": [
      iconv.encode(`${productHeader}\n${product("p1", "Zoë")}${product("", "Zoë")}`, "utf-16le", { addBOM: true }),
    ],
    "Windows-1252": [iconv.encode(`${productHeader}\n${product("p1", "Zoë")}${product("", "Zoë")}`, "windows-1252")],
    gzip: [gzipSync(`${productHeader}\n${product("p1", "Zoë")}`)],
    "a layout that does not fit": [`${productHeader}\n${product("p1", "Cup")}`, { layout: "shopify" }],
    "a layout of another kind": [`${productHeader}\n${product("p1", "Cup")}`, { layout: "shopify-orders" }],
    "a file of orders": [`${orderHeader}\n${order({})}`, { productUrl }],
    "a file of orders, forced": [
      `${orderHeader}\n${order({})}`,
      { productUrl, force: true, map: { name: "product_name", url: "product_url" } },
    ],
  };

  test.each(Object.entries(cases))("%s", async (_name, [content, options = {}]) => {
    await expectRecorded("products", content, options);
  });
});

describe("orders", () => {
  const dated =
    'Order ID,Customer Name,Customer Email,Order Date,Order Currency Code,Product Details\n101,Ann,ann@shop.example,01/02/2026,USD,"Product ID: 77, Product Qty: 2, Product SKU: C, Product Name: Cap, Product Unit Price: 1.50"\n';
  const file = (...rows: readonly Readonly<Record<string, string>>[]) => `${orderHeader}\n${rows.map(order).join("")}`;
  const cases: Readonly<Record<string, readonly [Content, Partial<ImportOptions>?]>> = {
    dates: [
      file(
        ...[
          "2026-01-02",
          "2026/1/2",
          "2026-01-02T23:59:59-11:00",
          "2026-01-02 at 3:04 PM",
          "2026-02-30",
          "02.01.2026",
        ].map((order_date, at) => ({ order_id: `o${at}`, order_date })),
        { order_id: "a", order_date: "2026-10-02" },
        { order_id: "b", order_date: "2026-10-03" },
        { order_id: "c", order_date: "2026-10-02T00:00:00.001Z" },
        { order_id: "d", order_date: "2027-01-01" },
        { order_id: "e", order_date: "" },
        { order_id: "f", order_date: "x" },
      ),
    ],
    "invalid values": [
      file(
        { order_id: "" },
        { order_id: "o2", email: "ann" },
        { order_id: "o3", customer_name: "" },
        { order_id: "o4", currency_iso: "EU" },
        { order_id: "o5", platform: "mars" },
        { order_id: "o6", product_id: "p 6" },
        { order_id: "o7", product_name: "" },
        { order_id: "o8", product_url: "x" },
        { order_id: "o9", product_price: "-1" },
        { order_id: "o10", sku: "a b" },
        { order_id: "o11", email: "", product_name: "", order_date: "" },
        { order_id: "x".repeat(300) },
      ),
    ],
    "rows of one order": [
      file(
        { order_id: "o1" },
        { order_id: "o2" },
        { order_id: "o1", product_id: "p2", product_price: "5" },
        { order_id: "o1", product_price: "7" },
        { order_id: "o1", email: "ANN@shop.example", product_price: "8" },
        { order_id: "o1", email: "bob@shop.example" },
        { order_id: "o1", platform: "shopify" },
        { order_id: "o2", email: "x" },
      ),
    ],
    "without strict validation": [file({ order_date: "" }, { order_id: "o2", order_date: "x" }), { validate: false }],
    "another platform, with emails": [
      file({}, { order_id: "o2", platform: "shopify" }),
      { platform: "magento", sendMail: true },
    ],
    "an unknown platform": [file({}), { platform: "mars" }],
    "invalid IDs, rewritten": [file({ product_id: "p 1", sku: "a b" }), { fixIds: true }],
    "empty cells, erased": [file({}), { empty: "clear" }],
    "too large a call": [file({}), { batchSize: 2_001 }],
    "day first or month first": [dated, { productUrl }],
    "day first": [dated, { productUrl, layout: "bigcommerce-orders-dmy" }],
  };

  test.each(Object.entries(cases))("%s", async (_name, [content, options = {}]) => {
    await expectRecorded("orders", content, options);
  });
});

describe("other kinds", () => {
  const reviewHeader = "review_title,review_content,review_score,date,product_id,display_name,email,published";
  const cases: Readonly<Record<string, readonly [kind: string, Content, Partial<ImportOptions>?]>> = {
    "coupon codes": ["coupons", `code\nAB-1\nAB-2\nAB-1\nx\n${"y".repeat(300)}\n\n1.2E+9\n`, { action: "map_review" }],
    "coupons without an action": ["coupons", "code\nAB-1\n"],
    "coupons for an unknown action": ["coupons", "code\nAB-1\n", { action: "map" }],
    unsubscribers: [
      "unsubscribers",
      "email,email_type_id\nann@shop.example,1\nbob,1\ncy@shop.example,x\n,1\nann@shop.example,2\nANN@shop.example,1\n",
    ],
    "unsubscribers of one type": ["unsubscribers", "email\nann@shop.example\nbob@\n", { emailType: "3" }],
    "unsubscribers without a type": ["unsubscribers", "email\nann@shop.example\n"],
    groups: ["groups", "group,product_id\nG,p1\nG,p2\nG,p1\n,p3\nH,\nH,p 4\nH,p5\n"],
    reviews: [
      "reviews",
      `${reviewHeader}\nGood,Nice,5,2026-01-02,p1,Ann,ann@shop.example,true\nGood,Nice,5,2026-01-02,p1,Ann,ann@shop.example,true\nGood,Nice,6,2026-01-02,p1,Ann,ann@shop.example,\nGood,,5,2026-01-02,p1,Ann,ann@shop.example,\nGood,Nice,5,2026-13-02,p1,Ann,ann@shop.example,\nGood,Nice,5,2026-01-02 10:11:12 +0200,p1,Ann,ann,\nGood,Nice,4.0,2026-01-02 10:11,p1,Ann,ann@shop.example,no\nGood,Nice,3,2027-01-02,p1,Ann,ann@shop.example,perhaps\n`,
    ],
    "reviews in calls of two": ["reviews", `${reviewHeader}\n`, { batchSize: 2 }],
  };

  test.each(Object.entries(cases))("%s", async (_name, [kind, content, options = {}]) => {
    await expectRecorded(kind, content, options);
  });
});
