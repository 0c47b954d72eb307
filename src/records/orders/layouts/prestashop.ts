import type { Layout } from "../../../import/layouts/layout.ts";
import { asDay, asPrice } from "../../../import/layouts/values.ts";

const orderColumns = ["reference", "id_order"];

/**
 * PrestaShop: a query of the SQL Manager, or an export module, with one row per line item. The export of the orders page
 * has neither products nor addresses.
 * Assumed: the order ID is the reference that customers see.
 */
export const prestashop: Layout = {
  name: "prestashop-orders",
  title: "a PrestaShop orders export",
  signatures: [["id_order", "date_add", "product_id", "product_name"]],
  fields: {
    order_id: { from: orderColumns, isOneColumn: true },
    email: { from: ["email", "customer_email"] },
    customer_name: { from: [["firstname", "lastname"], "customer"] },
    order_date: { from: ["date_add"], as: asDay },
    currency_iso: { from: ["iso_code", "currency"] },
    product_id: { from: ["product_id"] },
    product_name: { from: ["product_name"] },
    product_price: { from: ["unit_price_tax_incl", "product_price"], as: asPrice },
    sku: { from: ["product_reference"] },
    quantity: { from: ["product_quantity"] },
    order_status: { from: ["order_state", "state_name", "current_state"] },
  },
  storePath: "/index.php?controller=search&s={product_reference|product_name}",
  constants: { platform: "prestashop" },
  groups: { by: { columns: orderColumns }, makes: "lines" },
  missingHint: "include the customer's email address and name in the query or export (table customer)",
};
