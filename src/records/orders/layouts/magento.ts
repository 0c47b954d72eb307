import type { Layout } from "../../../import/layouts/layout.ts";
import { asDay, asOrderNumber, asPrice } from "../../../import/layouts/values.ts";

const orderColumns = ["Order Number", "increment_id", "ID"];
/** The columns that only rows for selected variants have. */
const parentColumns = ["item:parent_item_id", "items:parent_item_id", "parent_item_id"];

/**
 * The orders that export extensions of Magento and Adobe Commerce write, one row per line item.
 * Assumed: products are identified by their SKU. The row for the selected variant of a configurable product repeats it
 * and is not a line item.
 */
export const magentoOrders: Layout = {
  name: "magento-orders",
  title: "a Magento orders export",
  signatures: [
    ["Order Number", "Order Date", "Item SKU"],
    ["Order Number", "Order Date", "Item Name", "Item Qty Ordered"],
    ["increment_id", "created_at", "customer_email"],
    ["ID", "Purchase Date", "Bill-to Name"],
  ],
  fields: {
    order_id: { from: orderColumns, isOneColumn: true, as: asOrderNumber },
    email: { from: ["Customer Email", "customer_email", "Email"] },
    customer_name: {
      from: [
        "Customer Name",
        ["customer_firstname", "customer_lastname"],
        "Bill-to Name",
        "Billing Name",
        ["billing_firstname", "billing_lastname"],
        "Ship-to Name",
        "Shipping Name",
      ],
    },
    order_date: { from: ["Order Date", "created_at", "Purchase Date"], as: asDay },
    currency_iso: { from: ["order_currency_code", "Order Currency", "Currency"] },
    product_id: {
      from: ["Item SKU", "item:sku", "items:sku", "item_sku", "product_sku", "SKU"],
      isOneColumn: true,
    },
    product_name: {
      from: ["Item Name", "item:name", "items:name", "item_name", "product_name", "Product Name"],
    },
    product_price: {
      from: ["Item Price", "Item Original Price", "item:price", "items:price", "item_price", "product_price", "price"],
      as: asPrice,
    },
    quantity: {
      from: ["Item Qty Ordered", "item:qty_ordered", "items:qty_ordered", "item_qty", "qty_ordered", "Qty Ordered"],
    },
    order_status: { from: ["Order Status", "status", "Status"] },
  },
  // cspell:disable-next-line
  storePath: "/catalogsearch/result/?q={product_id}",
  constants: { platform: "magento" },
  dateOrder: "found",
  groups: {
    by: { columns: orderColumns },
    makes: "lines",
    isNoLine: (cell) => parentColumns.some((name) => cell(name) !== ""),
  },
  reads: parentColumns,
  notes: ["an order's own fields come from any of its rows"],
  missingHint: "the export of Magento's order grid has no products; export with an extension that includes the items",
};
