import type { Layout } from "../../../import/layouts/layout.ts";
import { asDay, asPrice, unitPrice } from "../../../import/layouts/values.ts";

const amazonOrders = ["order-id", "amazon-order-id"];

/**
 * Amazon Seller Central: Orders → Order Reports, tab-separated, one row per line item. The price of a row is for all of
 * its units.
 */
export const amazon: Layout = {
  name: "amazon-orders",
  title: "an Amazon order report",
  signatures: [
    ["order-id", "order-item-id", "purchase-date", "sku"],
    ["amazon-order-id", "purchase-date", "sku", "asin"],
  ],
  fields: {
    order_id: { from: amazonOrders, isOneColumn: true },
    email: { from: ["buyer-email"] },
    customer_name: { from: ["buyer-name", "recipient-name"] },
    order_date: { from: ["purchase-date"], as: asDay },
    currency_iso: { from: ["currency"] },
    product_id: { from: ["sku"] },
    product_name: { from: ["product-name"] },
    product_price: {
      from: ["item-price"],
      as: (value, context) => unitPrice(asPrice(value, context), context.field("quantity")),
    },
    sku: { from: ["sku"] },
    quantity: { from: ["quantity-purchased", "quantity"] },
    order_status: { from: ["order-status"] },
  },
  groups: { by: { columns: amazonOrders }, makes: "lines" },
  lacks: {
    email: {
      reason: "the All Orders report of Amazon has no email addresses",
      hint: "in Seller Central, download the report of new orders under Orders, Order Reports; it has the column buyer-email",
    },
  },
  notes: ["Amazon hides the buyers' addresses: those at marketplace.amazon are anonymized, and Amazon forwards emails"],
};

/** Etsy: Shop Manager → Settings → Options → Download Data, Order Items and Orders. Neither has email addresses. */
export const etsy: Layout = {
  name: "etsy-orders",
  title: "an Etsy orders export",
  signatures: [
    ["Sale Date", "Item Name", "Transaction ID", "Listing ID"],
    ["Sale Date", "Order ID", "Buyer User ID", "Full Name"],
  ],
  fields: {
    order_id: { from: ["Order ID"] },
    customer_name: { from: ["Full Name", "Ship Name", "Buyer"] },
    order_date: { from: ["Sale Date"], as: asDay },
    currency_iso: { from: ["Currency"] },
    product_id: { from: ["Listing ID"] },
    product_name: { from: ["Item Name"] },
    product_price: { from: ["Price"], as: asPrice },
    sku: { from: ["SKU"] },
    quantity: { from: ["Quantity"] },
  },
  dateOrder: "month-first",
  groups: { by: { columns: ["Order ID"] }, makes: "lines" },
  lacks: {
    email: {
      reason: "Etsy exports no email addresses",
      hint: "Etsy shows them on each order's page and to apps with its API; add them to the file as a column named email",
    },
  },
};
