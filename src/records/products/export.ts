import { listProducts, type ListedProduct } from "../../service/listings.ts";
import { nativeColumns } from "../../import/mapping/native-columns.ts";
import type { ExportRow, ExportValue, Noun } from "../../export/record-export.ts";

const withoutUrl = "withoutUrl";

export const products: Noun = {
  name: "products",
  itemName: { one: "product", many: "products" },
  columns: nativeColumns.products,
  sortKeys: 1,

  pages: async function* (service, _query, options) {
    for await (const page of listProducts(service, { details: true }, options)) yield page.map(toRow);
  },

  countedAs: ({ record }) => (record["url"] === "" ? withoutUrl : undefined),

  isLeftOut: ({ record }) => isOfReviewsAlone(record),

  notices: function* (counts, leftOut) {
    if (leftOut > 0) {
      const which = leftOut === 1 ? "1 product is" : `${leftOut} products are`;
      yield `${which} left out, known from reviews alone: the import of the reviews brings ${leftOut === 1 ? "it" : "them"} back`;
    }
    const count = counts.get(withoutUrl) ?? 0;
    if (count > 0) {
      const which = count === 1 ? "1 product has" : `${count} products have`;
      yield `${which} no address, since only a review named it: an import of this file needs --product-url`;
    }
  },
};

/**
 * Whether there is nothing but what a review makes of a product: its id and its name. An import of it lacks an address.
 * Assumed: a file is better without it than with a row that its import rejects; JSON tells it.
 */
function isOfReviewsAlone({ product_id: _id, name: _name, url, ...rest }: ExportRow["record"]): boolean {
  const isEmpty = (value: ExportValue) => value === null || value === "" || value === false;
  return url === "" && Object.values(rest).every(isEmpty);
}

/** A product that changes while it is listed comes again, as it is then. */
function toRow(product: ListedProduct): ExportRow {
  const { external_id, name, url, image_url, description, currency, price } = product;
  const { product_tags, blacklisted, upc, mpn, brand, isbn, sku, external_sku } = product;
  return {
    id: external_id,
    sortKeys: [external_id],
    record: {
      product_id: external_id,
      name,
      url,
      image_url,
      description,
      currency_iso: currency,
      price,
      product_tags,
      blacklisted,
      upc,
      mpn,
      brand,
      isbn,
      sku,
      external_sku,
    },
  };
}
