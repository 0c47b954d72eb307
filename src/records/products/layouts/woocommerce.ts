import { asTextWithEscapes } from "../../../import/layouts/html.ts";
import type { CellView, Family, Layout } from "../../../import/layouts/layout.ts";
import { asBarcode, asFirstUrl, asPrice, asTags, isNoUrl } from "../../../import/layouts/values.ts";

// cspell:disable
/** Names of columns in exports of shops in English, German, Spanish, and French. */
const columns = {
  type: ["Type", "Typ", "Tipo"],
  sku: ["SKU", "Artikelnummer", "UGS"],
  name: ["Name", "Nombre", "Nom"],
  salePrice: ["Sale price", "Angebotspreis", "Precio rebajado", "Tarif promo"],
  regularPrice: ["Regular price", "Regulärer Preis", "Precio normal", "Tarif régulier"],
  parent: ["Parent", "Übergeordnetes Produkt", "Superior"],
} as const;

// cspell:enable

function valueOf(cell: CellView, name: keyof typeof columns): string {
  return columns[name].map((column) => cell(column)).find((value) => value !== "") ?? "";
}

function isVariation(cell: CellView): boolean {
  return valueOf(cell, "type")
    .split(",")
    .some((type) => type.trim().toLowerCase().endsWith("variation"));
}

function familyOf(cell: CellView): Family | undefined {
  const [id, sku] = [cell("ID"), valueOf(cell, "sku")];
  if (isVariation(cell)) {
    const parent = valueOf(cell, "parent");
    return { key: parent === "" ? `orphan:${id || sku}` : parent };
  }
  if (!valueOf(cell, "type").toLowerCase().includes("variable")) return undefined;
  // A parent is named by its number, `id:741`, or by its SKU.
  if (id === "") return { key: sku };
  return { key: `id:${id}`, aliases: sku === "" ? [] : [sku] };
}

/**
 * WooCommerce: Products → Export, in English, German, Spanish, or French.
 * Assumed: products are identified by their number in the shop. A variation is not a product but a row of its parent,
 * on whose page it is sold; it supplies what the parent lacks, such as the price. A sale price takes precedence;
 * grouped, external, and unpublished products are imported too.
 */
export const woocommerceProducts: Layout = {
  name: "woocommerce-products",
  title: "a WooCommerce products export",
  // cspell:disable
  signatures: [
    ["ID", "Type", "SKU", "Name", "Regular price"],
    ["ID", "Typ", "Artikelnummer", "Name", "Regulärer Preis"],
    ["ID", "Tipo", "SKU", "Nombre", "Precio normal"],
    ["ID", "Type", "UGS", "Nom", "Tarif régulier"],
  ],
  fields: {
    product_id: { from: ["ID"] },
    name: { from: columns.name },
    description: {
      from: [
        "Description",
        "Beschreibung",
        "Descripción",
        "Short description",
        "Kurzbeschreibung",
        "Descripción corta",
        "Description courte",
      ],
      as: asTextWithEscapes,
    },
    image_url: { from: ["Images", "Bilder", "Imágenes"], as: asFirstUrl, countsAsEmpty: isNoUrl },
    price: { from: [...columns.salePrice, ...columns.regularPrice], as: asPrice },
    product_tags: { from: ["Tags", "Schlagwörter", "Etiquetas", "Étiquettes"], as: asTags },
    brand: { from: ["Brands", "Brand", "Marken", "Marcas", "Marques"] },
    upc: {
      from: ["GTIN, UPC, EAN, or ISBN", "GTIN, UPC, EAN oder ISBN", "GTIN, UPC, EAN o ISBN", "GTIN, UPC, EAN ou ISBN"],
      as: asBarcode,
    },
    sku: { from: columns.sku },
  },
  // cspell:enable
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
  reads: columns.parent,
  notes: [
    "a variation belongs to its parent and is not a separate product",
    "a sale price takes precedence over the regular one",
  ],
};
