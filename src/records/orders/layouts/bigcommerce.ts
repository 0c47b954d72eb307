import type { CellView, Layout } from "../../../import/layouts/layout.ts";
import { asDay, asOrderNumber, asPrice } from "../../../import/layouts/values.ts";

const labels = "ID|Qty|SKU|Name|Weight|Variation Details|Unit Price|Total Price";
const label = new RegExp(String.raw`(?:^|,\s*)Product (${labels}):\s*`, "g");

/** `Product ID: 77, Product Qty: 1, Product SKU: CAP, Product Name: Cap, …|Product ID: 78, …`. */
function readLines(cell: CellView): Record<string, string>[] {
  return cell("Product Details")
    .split(/\|\s*(?=Product ID:)/)
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const found = [...line.matchAll(label)];
      return Object.fromEntries(
        found.map((match, at) => {
          const value = line.slice(match.index + match[0].length, found[at + 1]?.index);
          return [`Product ${match[1]}`, value.trim()];
        }),
      );
    });
}

/**
 * BigCommerce: Orders → Export, default template. An order is a row, with its products in one cell.
 * Assumed: products are identified by their number in the shop.
 */
export const bigcommerceOrders: Layout = {
  name: "bigcommerce-orders",
  title: "a BigCommerce orders export",
  signatures: [
    ["Order ID", "Order Date", "Customer Email", "Product Details"],
    ["Order ID", "Order Date", "Customer Email", "Product ID", "Product Name"],
  ],
  fields: {
    order_id: { from: ["Order ID"], as: asOrderNumber },
    email: { from: ["Customer Email", "Billing Email"] },
    customer_name: {
      from: [
        "Customer Name",
        ["Billing First Name", "Billing Last Name"],
        "Billing Name",
        "Shipping Name",
        ["Shipping First Name", "Shipping Last Name"],
      ],
    },
    order_date: { from: ["Order Date"], as: asDay },
    currency_iso: { from: ["Order Currency Code", "Currency Code"] },
    product_id: { from: ["Product ID"] },
    product_name: { from: ["Product Name"] },
    product_price: { from: ["Product Unit Price"], as: asPrice },
    sku: { from: ["Product SKU"] },
    quantity: { from: ["Product Qty"] },
    order_status: { from: ["Order Status"] },
  },
  storePath: "/search.php?search_query={Product SKU|product_name}",
  constants: { platform: "bigcommerce" },
  dateOrder: "found",
  groups: { by: { columns: ["Order ID"] }, makes: "lines" },
  lines: { column: (header) => header.find((name) => name === "Product Details"), read: readLines },
};
