import { productFields, type RecordField } from "../../contract/record-fields.ts";
import type { RecordKind } from "../../import/kind.ts";

const fields: Readonly<Record<string, RecordField>> = {
  product_id: { type: "legalId", isRequired: true, isId: true },
  ...productFields,
};

const columns = Object.keys(fields);

export const products: RecordKind = {
  name: "products",
  itemName: { one: "product", many: "products" },
  fields: Object.entries(fields).map(([name, { isRequired: required = false, aliases = [] }]) => {
    return { name, aliases, required };
  }),
  columns,
  textColumns: columns.filter((name) => fields[name]?.isText),
  urlField: "url",
  fixableFields: ["product_id", "sku", "external_sku"],
  idFields: columns.filter((name) => fields[name]?.isId),
  isUndoable: true,
  layoutNames:
    "catalog shopify-products shopify-variants woocommerce-products magento-products magento1-products bigcommerce-products wix-products vend-products".split(
      " ",
    ),
  importCommand: {
    summary: "Import products from CSV, Excel, or JSON files",
    examples: ["starpost products import products.csv", "starpost products import products.csv --update"],
    flags: {
      update: {
        description: "change only existing products, in the columns of the file (default: also create new ones)",
        option: "update",
      },
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
