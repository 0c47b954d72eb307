import type { Layout } from "../../../import/layouts/layout.ts";

/**
 * The product catalogue that other vendors of reviews export. Its columns are other names of ours, which are known in
 * every file: so there is nothing to turn.
 */
export const catalogue: Layout = {
  name: "catalogue",
  title: "a product catalogue",
  signatures: [["Product ID", "Product Name", "Product URL", "Product Image URL", "Product Price"]],
  fields: {},
};
