import {
  inColumnOrder,
  lineColumns,
  orderFields,
  productFields,
  type RecordField,
} from "../../contract/record-fields.ts";
import { type RecordKind, sinceFlag } from "../../import/kind.ts";

const fields: Readonly<Record<string, RecordField>> = {
  ...inColumnOrder(orderFields),
  // Optional with `--no-validate`.
  order_date: { ...orderFields.order_date, isRequired: true },
  platform: { type: "name" },
  product_id: { type: "id", isRequired: true, isId: true },
  ...Object.fromEntries(Object.entries(lineColumns).map(([column, name]) => [column, productFields[name]])),
};

const columns = Object.keys(fields);

export const orders: RecordKind = {
  name: "orders",
  itemName: { one: "order", many: "orders" },
  fields: [
    ...Object.entries(fields).map(([name, { isRequired = false }]) => ({ name, required: isRequired })),
    { name: "quantity", isMappedOnly: true },
    { name: "order_status", isMappedOnly: true },
  ],
  columns,
  textColumns: columns.filter((name) => fields[name]?.isText),
  urlField: "product_url",
  hasStoredUrls: true,
  fixableFields: ["product_id", "sku", "external_sku"],
  productIdColumns: {
    id: ["product_id"],
    sku: ["sku"],
    name: ["product_name"],
    handle: ["handle", "product_handle"],
  },
  idFields: columns.filter((name) => fields[name]?.isId),
  dateField: "order_date",
  isUndoable: true,
  layoutNames: (
    "shopify-orders matrixify-orders woocommerce-orders woocommerce-analytics-orders magento-orders prestashop-orders " +
    "bigcommerce-orders squarespace-orders wix-orders tiendanube-orders amazon-orders etsy-orders"
  ).split(" "),
  missingHints: { email: "add an email address" },
  importCommand: {
    summary: "Import orders from CSV, Excel, or JSON files, one row per line item",
    examples: [
      "starpost orders import orders.csv",
      "starpost orders import --max-errors 5% 'exports/*.csv'",
      "starpost orders import orders_export.csv --store-url https://shop.example",
    ],
    flags: {
      platform: {
        value: "<name>",
        description: "store platform of the orders (default: general)",
        option: "platform",
        values: { operation: "orders.create", field: "platform" },
      },
      "no-validate": {
        description: "skip strict validation (makes order_date optional)",
        option: "validate",
        isNegated: true,
      },
      "send-mail": {
        description: "send review-request emails to these customers, as for new orders (default: no emails)",
        option: "sendMail",
      },
      "include-canceled": {
        description: "with --send-mail, also for orders that are canceled, refunded, or voided",
        option: "includeCanceled",
      },
      "update-products": {
        description: "also change products that are stored already (default: orders leave them as they are)",
        option: "updateProducts",
      },
    },
  },
  exportCommand: {
    summary: "Export all orders, one row per line item, in the columns that `orders import` reads",
    examples: ["starpost orders export --out orders.csv", "starpost orders export --since 2026-01-01 --format ndjson"],
    flags: { since: sinceFlag },
  },
  planExamples: ["starpost orders plan orders.csv --out plan.json", "starpost orders plan 'exports/*.csv' --send-mail"],
  rejectCodes: {
    bad_platform: {
      means: "not one of the service's platforms",
      hint: "use a known platform, such as shopify or general",
    },
    bad_quantity: { means: "not a number of units", hint: "write an integer of at least 1" },
    order_conflict: {
      means: "rows of one order contradict each other, or the order is stored with another customer's email address",
      hint: "use the stored email address and the same values in all rows, or another order ID",
    },
    order_incomplete: {
      means: "another row of the same order is invalid, so none of its rows was imported",
      hint: "correct that line and import all rows of the order together",
    },
  },
  undoEffect: "new orders stay, without emails",
  confirmation: (options, files) => {
    const emails = options["sendMail"] === true ? " Review-request emails are sent to the customers." : "";
    return `Import the orders in ${files}? Those that exist are updated.${emails}`;
  },
  loadImporter: async () => (await import("./import.ts")).orderImporter,
  loadExporter: async () => (await import("./export.ts")).orderExporter,
};
