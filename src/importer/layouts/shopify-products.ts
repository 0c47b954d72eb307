import { asText } from "./html.ts";
import type { Layout } from "./layout.ts";
import { asBarcode, asPrice, asTags, isIsbn, isNoIsbn, isNoUrl } from "./values.ts";

/**
 * Shopify: Products → Export, in the old and the new names of its columns. A product has a row for each variant and
 * each further picture.
 * Assumed: a product is its handle; price, SKU and barcode are those of its first variant; drafts and archived
 * products are products.
 */
export const shopifyProducts: Layout = {
  name: "shopify-products",
  kind: "products",
  title: "a Shopify products export",
  signatures: [
    ["Handle", "Title", "Body (HTML)", "Vendor"],
    ["Handle", "Title", "Variant Price"],
    ["URL handle", "Title", "Option1 name", "Product image URL"],
  ],
  fields: {
    product_id: { from: ["Handle", "URL handle"] },
    name: { from: ["Title"] },
    description: { from: ["Body (HTML)", "Description"], as: asText },
    image_url: { from: ["Image Src", "Product image URL"], saysNothing: isNoUrl },
    price: { from: ["Variant Price", "Price"], as: asPrice },
    product_tags: { from: ["Tags"], as: asTags },
    brand: { from: ["Vendor"] },
    sku: { from: ["Variant SKU", "SKU"] },
    upc: { from: ["Variant Barcode", "Barcode"], as: asBarcode, saysNothing: isIsbn },
    isbn: { from: ["Variant Barcode", "Barcode"], as: asBarcode, saysNothing: isNoIsbn },
  },
  hasHtml: true,
  groups: {
    by: { field: "product_id" },
    makes: "one",
    lead: { is: (cell) => cell("Title") !== "" },
    together: ["price", "sku", "upc", "isbn"],
  },
  says: ["the rows of one product make one, with the price, SKU and barcode of its first variant"],
};
