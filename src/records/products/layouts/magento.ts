import { asText } from "../../../import/layouts/html.ts";
import type { CellView, Family, Layout } from "../../../import/layouts/layout.ts";
import { asBarcode, asPrice, isNoUrl, isZero } from "../../../import/layouts/values.ts";

/** `sku=MH01-XS,size=XS|sku=MH01-S,size=S`: the parts of a configurable product. */
function partsOf(cell: CellView): string[] {
  return [...cell("configurable_variations").matchAll(/(?:^|\|)sku=([^,|]+)/g)].map((match) =>
    (match[1] ?? "").trim(),
  );
}

function isHidden(cell: CellView): boolean {
  return cell("visibility").toLowerCase() === "not visible individually";
}

/**
 * A product's rows in other store views belong to it, and so do the parts of a configurable product that have no page
 * of their own.
 */
function familyOf(cell: CellView): Family | undefined {
  const sku = cell("sku");
  if (sku === "") return undefined;
  const parts = partsOf(cell).filter((part) => part !== sku);
  // A part is looked up by another name than a visible product has, so that only hidden ones are taken in.
  return isHidden(cell)
    ? { key: `part:${sku}`, aliases: [sku] }
    : { key: sku, aliases: parts.map((part) => `part:${part}`) };
}

/**
 * Magento 2 and Adobe Commerce: System → Export, entity type Products.
 * Assumed: a product is its SKU, in the words of the default store view; the parts of a configurable product that are
 * not visible individually are rows of that product; pictures are paths on the shop's disk, and not sent.
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
    product_id: { from: ["sku"] },
    name: { from: ["name"] },
    description: { from: ["description", "short_description"], as: asText },
    image_url: { from: ["base_image", "image"], saysNothing: isNoUrl },
    price: { from: ["price"], as: asPrice, saysNothing: isZero },
    brand: { from: ["manufacturer", "brand"] },
    upc: { from: ["upc", "ean", "gtin", "barcode"], as: asBarcode },
    isbn: { from: ["isbn"] },
    mpn: { from: ["mpn"] },
    sku: { from: ["sku"] },
  },
  hasHtml: true,
  groups: {
    by: { family: familyOf },
    makes: "one",
    lead: {
      is: (cell) => cell("store_view_code") === "" && !isHidden(cell),
    },
  },
  says: [
    "the rows of other store views belong to their product, and so do the hidden parts of a configurable product",
    "pictures that are paths are left out",
  ],
};
