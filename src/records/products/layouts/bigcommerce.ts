import { asText } from "../../../import/layouts/html.ts";
import type { CellView, Layout } from "../../../import/layouts/layout.ts";
import { asBarcode, asPrice, asTags, isIsbn, isNoIsbn, isNoUrl, isZero } from "../../../import/layouts/values.ts";

const barcodeColumns = ["UPC/EAN", "Product UPC/EAN", "Global Trade Number", "Global Trade Item Number"];

function isProduct(cell: CellView): boolean {
  return (cell("Item") || cell("Item Type")).toLowerCase() === "product";
}

/**
 * BigCommerce: Products → Export, in the current template (`Item`: Product, Variant, Image, Video) and the previous one
 * (`Item Type`: Product, SKU, Rule). The rows below a product belong to it.
 * Assumed: products are identified by their number in the shop; a sale price takes precedence.
 */
export const bigcommerceProducts: Layout = {
  name: "bigcommerce-products",
  title: "a BigCommerce products export",
  signatures: [
    ["Item", "ID", "Name", "SKU", "Options"],
    ["Item Type", "Product ID", "Product Name", "Product Code/SKU"],
  ],
  fields: {
    product_id: { from: ["ID", "Product ID"], isOneColumn: true },
    name: { from: ["Name", "Product Name"] },
    description: { from: ["Description", "Product Description"], as: asText },
    url: { from: ["Product URL"], countsAsEmpty: isNoUrl },
    image_url: {
      from: [
        "Internal Image URL (Export)",
        "Image URL (Import)",
        "Variant Image URL",
        "Product Image URL - 1",
        "Product Image File - 1",
      ],
      countsAsEmpty: isNoUrl,
    },
    price: { from: ["Sale Price", "Price"], as: asPrice, countsAsEmpty: isZero },
    product_tags: { from: ["Search Keywords"], as: asTags },
    brand: { from: ["Brand Name", "Brand"] },
    sku: { from: ["SKU", "Product Code/SKU"] },
    mpn: { from: ["Manufacturer Part Number"] },
    upc: { from: barcodeColumns, as: asBarcode, countsAsEmpty: isIsbn },
    isbn: { from: barcodeColumns, as: asBarcode, countsAsEmpty: isNoIsbn },
  },
  hasHtml: true,
  groups: {
    by: { start: isProduct },
    makes: "one",
    lead: {
      is: isProduct,
      missing: { column: "product_id", reason: "belongs to a product, but no product precedes the row" },
    },
  },
  notes: ["the rows below a product belong to it: variants, images, rules"],
};
