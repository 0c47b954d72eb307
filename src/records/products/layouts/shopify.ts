import { asText } from "../../../import/layouts/html.ts";
import type { Layout } from "../../../import/layouts/layout.ts";
import { asBarcode, asPrice, asTags, isIsbn, isNoIsbn, isNoUrl } from "../../../import/layouts/values.ts";

const handleColumns = ["Handle", "URL handle"];
const priceColumns = ["Variant Price", "Price"];
const skuColumns = ["Variant SKU", "SKU"];

/**
 * Shopify: Products → Export, with old and new column names. A product has a row for each variant and each further
 * image.
 * Assumed: products are identified by their handle; price, SKU, and barcode are those of the first variant; drafts and
 * archived products are imported too.
 */
export const shopifyProducts: Layout = {
  name: "shopify-products",
  title: "a Shopify products export",
  signatures: [
    ["Handle", "Title", "Body (HTML)", "Vendor"],
    ["Handle", "Title", "Variant Price"],
    ["URL handle", "Title", "Option1 name", "Product image URL"],
  ],
  fields: {
    product_id: { from: handleColumns },
    name: { from: ["Title"] },
    description: { from: ["Body (HTML)", "Description"], as: asText },
    image_url: { from: ["Image Src", "Product image URL"], countsAsEmpty: isNoUrl },
    price: { from: priceColumns, as: asPrice },
    product_tags: { from: ["Tags"], as: asTags },
    brand: { from: ["Vendor"] },
    sku: { from: skuColumns },
    upc: { from: ["Variant Barcode", "Barcode"], as: asBarcode, countsAsEmpty: isIsbn },
    isbn: { from: ["Variant Barcode", "Barcode"], as: asBarcode, countsAsEmpty: isNoIsbn },
  },
  storePath: "/products/{product_id}",
  hasHtml: true,
  groups: {
    by: { columns: handleColumns },
    makes: "one",
    lead: { is: (cell) => cell("Title") !== "" },
    together: ["price", "sku", "upc", "isbn"],
  },
  notes: ["the rows of a product are combined, with the price, SKU, and barcode of its first variant"],
};

/**
 * The same, with one product per variant, identified by SKU as the line items of orders are.
 * Assumed: used only on request, since shops show reviews by product; a variant has its product's name, text, and tags.
 */
export const shopifyVariants: Layout = {
  ...shopifyProducts,
  name: "shopify-variants",
  title: "a Shopify products export, with one product per variant",
  signatures: [],
  fields: {
    ...shopifyProducts.fields,
    product_id: { from: skuColumns },
    image_url: {
      from: ["Variant Image", "Variant image URL", "Image Src", "Product image URL"],
      countsAsEmpty: isNoUrl,
    },
  },
  groups: {
    by: { columns: handleColumns },
    makes: "each",
    shared: ["name", "description", "product_tags", "brand", "image_url"],
    isNoLine: (cell) => [...skuColumns, ...priceColumns].every((column) => cell(column) === ""),
  },
  notes: ["each variant is a separate product, with the name and text of its product"],
};
