import type { RecordKind } from "../../import/kind.ts";
import { columns } from "./columns.ts";

/** Names from the catalog layout that other vendors export. */
const aliases: Readonly<Partial<Record<string, readonly string[]>>> = {
  name: ["product name"],
  url: ["product url"],
  image_url: ["product image url"],
  description: ["product description"],
  currency_iso: ["currency"],
  price: ["product price"],
  upc: ["spec upc"],
  mpn: ["spec mpn"],
  brand: ["spec brand"],
  isbn: ["spec isbn"],
  sku: ["spec sku"],
  external_sku: ["spec external sku"],
};

export const products: RecordKind = {
  name: "products",
  itemName: { one: "product", many: "products" },
  fields: columns.map((name) => ({
    name,
    aliases: aliases[name] ?? [],
    required: ["product_id", "name", "url"].includes(name),
  })),
  columns,
  textColumns: ["name", "description", "product_tags"],
  urlField: "url",
  fixableFields: ["product_id", "sku", "external_sku"],
  idFields: "product_id upc mpn isbn sku external_sku".split(" "),
  isUndoable: true,
  layoutNames:
    "catalog shopify-products shopify-variants woocommerce-products magento-products magento1-products bigcommerce-products".split(
      " ",
    ),
  importCommand: {
    summary: "Import products from CSV, Excel, or JSON files",
    examples: ["starpost products import products.csv", "starpost products import products.csv --update"],
    flags: {
      update: { description: "update existing products instead of creating products", option: "update" },
    },
  },
  exportCommand: {
    summary: "Export all products in the columns that `products import` reads",
    examples: ["starpost products export --out products.csv", "starpost products export --format ndjson"],
  },
  planExamples: ["starpost products plan products.csv --out plan.json", "starpost products plan products.csv --update"],
  rejectCodes: {
    product_incomplete: {
      means: "another row of the same product is invalid, so none of its rows was imported",
      hint: "correct that line and import all rows of the product together",
    },
  },
  confirmation: (options, files) =>
    options["update"] === true
      ? `Update the products in ${files}?`
      : `Import the products in ${files}? Those that exist are overwritten.`,
  loadImporter: async () => (await import("./import.ts")).productImporter,
  loadExporter: async () => (await import("./export.ts")).productExporter,
};
