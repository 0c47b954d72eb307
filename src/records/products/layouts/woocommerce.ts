import { asTextWithEscapes } from "../../../import/layouts/html.ts";
import type { CellView, Family, Layout } from "../../../import/layouts/layout.ts";
import { asBarcode, asFirstUrl, asPrice, asTags, isNoUrl } from "../../../import/layouts/values.ts";

function isVariation(cell: CellView): boolean {
  return cell("Type")
    .split(",")
    .some((type) => type.trim().toLowerCase().endsWith("variation"));
}

function familyOf(cell: CellView): Family | undefined {
  const [id, sku] = [cell("ID"), cell("SKU")];
  if (isVariation(cell)) {
    const parent = cell("Parent");
    return { key: parent === "" ? `orphan:${id || sku}` : parent };
  }
  if (!cell("Type").toLowerCase().includes("variable")) return undefined;
  // A parent is named by its number, `id:741`, or by its SKU.
  if (id === "") return { key: sku };
  return { key: `id:${id}`, aliases: sku === "" ? [] : [sku] };
}

/**
 * WooCommerce: Products → Export.
 * Assumed: products are identified by their number in the shop. A variation is not a product but a row of its parent,
 * on whose page it is sold; it supplies what the parent lacks, such as the price. A sale price takes precedence;
 * grouped, external, and unpublished products are imported too.
 */
export const woocommerceProducts: Layout = {
  name: "woocommerce-products",
  title: "a WooCommerce products export",
  signatures: [["ID", "Type", "SKU", "Name", "Regular price"]],
  fields: {
    product_id: { from: ["ID"] },
    name: { from: ["Name"] },
    description: { from: ["Description", "Short description"], as: asTextWithEscapes },
    image_url: { from: ["Images"], as: asFirstUrl, countsAsEmpty: isNoUrl },
    price: { from: ["Sale price", "Regular price"], as: asPrice },
    product_tags: { from: ["Tags"], as: asTags },
    brand: { from: ["Brands", "Brand"] },
    upc: { from: ["GTIN, UPC, EAN, or ISBN"], as: asBarcode },
    sku: { from: ["SKU"] },
  },
  hasHtml: true,
  groups: {
    by: { family: familyOf },
    makes: "one",
    lead: {
      is: (cell) => !isVariation(cell),
      missing: {
        column: "Parent",
        reason: "names a product that is not in the file; a variation cannot be imported without its product",
      },
    },
  },
  notes: [
    "a variation belongs to its parent and is not a separate product",
    "a sale price takes precedence over the regular one",
  ],
};
