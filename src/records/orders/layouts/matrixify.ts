import type { Layout } from "../../../import/layouts/layout.ts";
import { asDay, asOrderNumber, asPrice } from "../../../import/layouts/values.ts";
import { statusFrom } from "./lines.ts";

/**
 * Matrixify, an app for Shopify: Orders. Rows with another `Line: Type`, such as shipping and refunds, are not line items.
 * Assumed: products are identified by their handle, as in Shopify's own products export.
 */
export const matrixify: Layout = {
  name: "matrixify-orders",
  title: "a Matrixify orders export",
  signatures: [["Name", "Line: Type", "Line: Title", "Line: Quantity"]],
  fields: {
    order_id: { from: ["Name"], as: asOrderNumber },
    email: { from: ["Customer: Email", "Email"] },
    customer_name: {
      from: [
        ["Customer: First Name", "Customer: Last Name"],
        "Billing: Name",
        ["Billing: First Name", "Billing: Last Name"],
        "Shipping: Name",
      ],
    },
    order_date: { from: ["Processed At", "Created At"], as: asDay },
    currency_iso: { from: ["Currency"] },
    product_id: { from: ["Line: Product Handle", "Line: Product ID", "Line: SKU"], isOneColumn: true },
    product_name: { from: ["Line: Title", "Line: Name"] },
    product_price: { from: ["Line: Price"], as: asPrice },
    sku: { from: ["Line: SKU"] },
    quantity: { from: ["Line: Quantity"] },
    order_status: statusFrom("Payment: Status"),
  },
  storePath: "/search?q={Line: SKU|product_name}",
  productIds: {
    id: ["Line: Product ID"],
    sku: ["Line: SKU"],
    name: ["Line: Title"],
    handle: ["Line: Product Handle"],
  },
  constants: { platform: "shopify" },
  groups: {
    by: { columns: ["Name"] },
    makes: "lines",
    isNoLine: (cell) => !["", "line item"].includes(cell("Line: Type").toLowerCase()),
  },
  notes: ["'#' is removed from order names", "rows other than line items are not products"],
};
