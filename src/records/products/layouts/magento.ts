import { asText } from "../../../import/layouts/html.ts";
import type { CellView, Family, Layout } from "../../../import/layouts/layout.ts";
import { asBarcode, asPrice, isNoUrl, isZero } from "../../../import/layouts/values.ts";

/** `sku=MH01-XS,size=XS|sku=MH01-S,size=S`: the variants of a configurable product. */
function partsOf(cell: CellView): string[] {
  return [...cell("configurable_variations").matchAll(/(?:^|\|)sku=([^,|]+)/g)].map((match) => (match[1] ?? "").trim());
}

function isHidden(cell: CellView): boolean {
  return cell("visibility").toLowerCase() === "not visible individually";
}

/**
 * A product's rows for other store views belong to it, and so do the variants of a configurable product without a page
 * of their own.
 */
function familyOf(cell: CellView): Family | undefined {
  const sku = cell("sku");
  if (sku === "") return undefined;
  const parts = partsOf(cell).filter((part) => part !== sku);
  // Variants are looked up under a different name than visible products, so that only hidden ones match.
  return isHidden(cell)
    ? { key: `part:${sku}`, aliases: [sku] }
    : { key: sku, aliases: parts.map((part) => `part:${part}`) };
}

/** The attributes that the exports of both versions name alike. */
const attributes = {
  product_id: { from: ["sku"] },
  name: { from: ["name"] },
  description: { from: ["description", "short_description"], as: asText },
  price: { from: ["price"], as: asPrice, countsAsEmpty: isZero },
  brand: { from: ["manufacturer", "brand"] },
  upc: { from: ["upc", "ean", "gtin", "barcode"], as: asBarcode },
  isbn: { from: ["isbn"] },
  mpn: { from: ["mpn"] },
  sku: { from: ["sku"] },
} as const satisfies Layout["fields"];

/**
 * Magento 2 and Adobe Commerce: System → Export, entity type Products.
 * Assumed: products are identified by their SKU and described by the default store view; hidden variants of a
 * configurable product are rows of that product; images are paths on the shop's disk and are not sent.
 */
export const magentoProducts: Layout = {
  name: "magento-products",
  title: "a Magento products export",
  signatures: [
    ["sku", "store_view_code", "attribute_set_code", "product_type"],
    ["sku", "attribute_set_code", "url_key"],
    ["sku", "product_type", "url_key"],
  ],
  fields: {
    ...attributes,
    image_url: { from: ["base_image", "image"], countsAsEmpty: isNoUrl },
  },
  hasHtml: true,
  groups: {
    by: { family: familyOf },
    makes: "one",
    lead: {
      is: (cell) => cell("store_view_code") === "" && !isHidden(cell),
    },
  },
  reads: ["configurable_variations", "visibility"],
  notes: [
    "the rows of other store views belong to their product, and so do the hidden variants of a configurable product",
    "images that are paths are dropped",
  ],
};

/**
 * Magento 1: System → Import/Export → Export, entity type Products. A product has a row for each further store view,
 * category, and image, without its SKU.
 * Assumed: hidden variants are products of their own, since the orders of Magento 1 name their SKUs.
 */
export const magento1Products: Layout = {
  name: "magento1-products",
  title: "a Magento 1 products export",
  signatures: [["sku", "_store", "_attribute_set", "_type"]],
  fields: {
    ...attributes,
    image_url: { from: ["image"], countsAsEmpty: isNoUrl },
  },
  hasHtml: true,
  groups: { by: { start: (cell) => cell("sku") !== "" }, makes: "one" },
  notes: ["rows without a SKU belong to the product above them", "images that are paths are dropped"],
};
