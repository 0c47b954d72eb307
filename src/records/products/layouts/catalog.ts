import type { Layout } from "../../../import/layouts/layout.ts";

/**
 * The product catalog that other review vendors export. Its columns are aliases of the native ones, so nothing needs
 * translation.
 */
export const catalogue: Layout = {
  name: "catalogue",
  title: "a product catalogue",
  signatures: [["Product ID", "Product Name", "Product URL", "Product Image URL", "Product Price"]],
  fields: {},
};
