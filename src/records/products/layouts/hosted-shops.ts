import { asText } from "../../../import/layouts/html.ts";
import type { CellView, Layout } from "../../../import/layouts/layout.ts";
import { asBarcode, asPrice, asTags, isNoUrl } from "../../../import/layouts/values.ts";

function isProduct(cell: CellView): boolean {
  return cell("fieldType").toLowerCase() === "product";
}

/**
 * The first of several images. Wix names its own files without their address.
 * Source: addresses of images in shops on Wix.
 */
function asImageUrl(value: string): string {
  const first = value.split(";", 1)[0]?.trim() ?? "";
  return /^[0-9a-f]{6}_[0-9a-f]{32}(?:~mv2\w*)?(?:\.\w+)?$/i.test(first)
    ? `https://static.wixstatic.com/media/${first}`
    : first;
}

/**
 * Wix Stores: Store Products → Export. The variants of a product follow it, with its `handleId`.
 * Assumed: products are identified by `handleId`; the price is the one before a discount.
 */
export const wixProducts: Layout = {
  name: "wix-products",
  title: "a Wix products export",
  signatures: [["handleId", "fieldType", "name", "productImageUrl"]],
  fields: {
    product_id: { from: ["handleId"] },
    name: { from: ["name"] },
    description: { from: ["description"], as: asText },
    image_url: {
      from: ["productImageUrl"],
      as: asImageUrl,
      countsAsEmpty: (value) => isNoUrl(asImageUrl(value)),
    },
    price: { from: ["price"], as: asPrice },
    brand: { from: ["brand"] },
    sku: { from: ["sku"] },
  },
  hasHtml: true,
  groups: {
    by: { columns: ["handleId"] },
    makes: "one",
    lead: {
      is: isProduct,
      missing: { column: "handleId", reason: "names a product that is not in the file" },
    },
  },
  notes: ["the variants of a product belong to it", "the price is the one before a discount"],
};

/**
 * Vend (Lightspeed Retail X-Series): Catalog → Products → Export.
 * Assumed: products are identified by their handle, which their variants share; price, SKU, and barcode are those of the
 * first variant.
 */
export const vendProducts: Layout = {
  name: "vend-products",
  title: "a Vend (Lightspeed) products export",
  signatures: [["handle", "sku", "composite_name", "variant_option_one_name", "retail_price"]],
  fields: {
    product_id: { from: ["handle"] },
    name: { from: ["name"] },
    description: { from: ["description"], as: asText },
    price: { from: ["retail_price"], as: asPrice },
    product_tags: { from: ["tags"], as: asTags },
    brand: { from: ["brand_name"] },
    upc: { from: ["barcode"], as: asBarcode },
    sku: { from: ["sku"] },
  },
  hasHtml: true,
  groups: { by: { columns: ["handle"] }, makes: "one", together: ["price", "sku", "upc"] },
  notes: ["the variants of a product are combined, with the price and SKU of the first"],
};
