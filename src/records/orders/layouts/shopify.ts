import type { Layout } from "../../../import/layouts/layout.ts";
import { asDay, asOrderNumber, asPrice } from "../../../import/layouts/values.ts";

/**
 * Shopify: Orders → Export. A row is a line item; only an order's first row has the order's own fields.
 * Assumed: the order ID is the number that customers see, `#1001`, without its `#`; canceled orders are imported too.
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
    product_id: { from: ["Lineitem sku"] },
    product_name: { from: ["Lineitem name"] },
    product_price: { from: ["Lineitem price"], as: asPrice },
    quantity: { from: ["Lineitem quantity"] },
  },
  constants: { platform: "shopify" },
  groups: { by: { columns: ["Name"] }, makes: "lines" },
  notes: ["an order's own fields come from its first row", "'#' is removed from order names"],
};
