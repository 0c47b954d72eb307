import type { CellView, Layout } from "../../../import/layouts/layout.ts";
import { asDay, asOrderNumber, asPrice, unitPrice } from "../../../import/layouts/values.ts";
import { idsBySku, statusFrom } from "./lines.ts";

/**
 * Line items in cells: `name:Cap|product_id:12|quantity:2|total:18.00`, several separated by `;` or in a column each.
 */
function readLines(cell: CellView, header: readonly string[]): Record<string, string>[] {
  return header.filter(isLineColumn).flatMap((column) =>
    cell(column)
      .split(/;\s*(?=(?:id|name|product_id|sku):)/)
      .filter((line) => line.trim() !== "")
      .map(readLine),
  );
}

function readLine(line: string): Record<string, string> {
  const parts = line.split(/\|(?=[a-z_]+:)/).map((part) => {
    const at = part.indexOf(":");
    return [part.slice(0, at).trim(), part.slice(at + 1).trim()] as const;
  });
  const found: Record<string, string> = Object.fromEntries(parts);
  const { quantity = "", sub_total: subTotal = found["subtotal"] ?? "", total = "" } = found;
  const amount = unitPrice(subTotal || total, quantity);
  return {
    item_product_id: found["product_id"] ?? "",
    item_name: found["name"] ?? "",
    item_sku: found["sku"] ?? "",
    item_quantity: quantity,
    item_price: amount,
  };
}

function isLineColumn(column: string): boolean {
  return /^line_items?(?:_\d+)?$/i.test(column);
}

const orderColumns = ["Order Number", "order_number", "Order ID", "order_id"];

/**
 * The orders that WooCommerce's export extensions write (WooCommerce itself has no export): Advanced Order Export,
 * Customer/Order/Coupon Export, Order Import Export Suite.
 * Assumed: products are identified by their number in the shop, or by their SKU if the file lacks it.
 */
export const woocommerceOrders: Layout = {
  name: "woocommerce-orders",
  title: "a WooCommerce orders export",
  signatures: [
    ["Order Number", "Order Date", "Email (Billing)"],
    ["order_id", "billing_email", "item_name"],
    ["order_id", "billing_email", "line_items"],
    ["order_id", "billing_first_name", "line_item_1"],
  ],
  fields: {
    order_id: { from: orderColumns, isOneColumn: true, as: asOrderNumber },
    email: { from: ["Email (Billing)", "billing_email", "customer_email"] },
    customer_name: {
      from: [
        "Full Name (Billing)",
        ["First Name (Billing)", "Last Name (Billing)"],
        ["billing_first_name", "billing_last_name"],
        ["First Name (Shipping)", "Last Name (Shipping)"],
        ["shipping_first_name", "shipping_last_name"],
      ],
    },
    order_date: { from: ["Order Date", "order_date", "date"], as: asDay },
    currency_iso: { from: ["Order Currency", "order_currency", "currency"] },
    product_id: {
      from: ["Product Id", "Product ID", "item_product_id", "SKU", "item_sku"],
      isOneColumn: true,
    },
    product_name: { from: ["Item Name", "Product Name", "Name", "item_name"] },
    product_price: { from: ["Item Cost", "Item Cost (inc. tax)", "item_price"], as: asPrice },
    product_image: { from: ["Image URL"] },
    sku: { from: ["SKU", "item_sku"] },
    quantity: { from: ["Quantity (- Refund)", "Quantity", "item_quantity"] },
    order_status: { from: ["Order Status", "order_status", "status"] },
  },
  storePath: "/?post_type=product&s={SKU|item_sku|product_name}",
  constants: { platform: "woocommerce" },
  dateOrder: "found",
  groups: { by: { columns: orderColumns }, makes: "lines" },
  lines: { column: (header) => header.find(isLineColumn), read: readLines },
  notes: ["an order's own fields come from any of its rows"],
  missingHint: "select the order's number, date, name, and email address, and the items' fields, in the export",
};

/** WooCommerce → Analytics → Orders → Download. It has neither addresses nor line items. */
export const woocommerceAnalytics: Layout = {
  name: "woocommerce-analytics-orders",
  title: "a WooCommerce Analytics report",
  signatures: [["Date", "Order #", "Status", "Customer", "Product(s)"]],
  fields: {
    order_id: { from: ["Order #"] },
    customer_name: { from: ["Customer"] },
    order_date: { from: ["Date"], as: asDay },
  },
  lacks: {
    email: {
      reason: "the reports of WooCommerce Analytics have no email addresses",
      hint: "use an extension such as Advanced Order Export, and select the billing email address and the items",
    },
  },
};

/**
 * Shopify: Orders → Export. A row is a line item; only an order's first row has the order's own fields.
 * Assumed: the order ID is the number that customers see, `#1001`, without its `#`; canceled orders are imported too. A product
 * is identified by its SKU, or by an ID that is made from the name.
 */
export const shopifyOrders: Layout = {
  name: "shopify-orders",
  title: "a Shopify orders export",
  signatures: [["Name", "Email", "Lineitem name", "Lineitem quantity", "Created at"]],
  fields: {
    order_id: { from: ["Name"], as: asOrderNumber },
    email: { from: ["Email"] },
    customer_name: { from: ["Billing Name", "Shipping Name"] },
    order_date: { from: ["Created at"], as: asDay },
    currency_iso: { from: ["Currency"] },
    ...idsBySku("Lineitem sku", "Lineitem name"),
    product_name: { from: ["Lineitem name"] },
    product_price: { from: ["Lineitem price"], as: asPrice },
    quantity: { from: ["Lineitem quantity"] },
    order_status: statusFrom("Financial Status"),
  },
  productIds: { id: [], sku: ["Lineitem sku"] },
  storePath: "/search?q={Lineitem sku|product_name}",
  constants: { platform: "shopify" },
  groups: { by: { columns: ["Name"] }, makes: "lines" },
  notes: ["an order's own fields come from its first row", "'#' is removed from order names"],
};
