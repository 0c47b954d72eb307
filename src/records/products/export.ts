import { listProducts, type ListedProduct } from "../../service/listings.ts";
import type { ExportRow, ExportValue, RecordExporter } from "../../export/record-exporter.ts";

const withoutUrl = "withoutUrl";

export const productExporter: RecordExporter = {
  itemName: { one: "product", many: "products" },
  sortKeys: 1,

  pages: async function* (service, _query, options) {
    for await (const page of listProducts(service, { details: true }, options)) yield page.map(toRow);
  },

  countAs: ({ record }) => (record["url"] === "" ? withoutUrl : undefined),

  isOmitted: ({ record }) => isKnownFromReviewsOnly(record),

  notices: function* (counts, omitted) {
    if (omitted > 0) {
      const products = omitted === 1 ? "1 product" : `${omitted} products`;
      yield `omitted ${products} known only from reviews; importing the reviews restores ${omitted === 1 ? "it" : "them"}`;
    }
    const count = counts.get(withoutUrl) ?? 0;
    if (count > 0) {
      const products = count === 1 ? "1 product has" : `${count} products have`;
      yield `${products} no URL because only a review named ${count === 1 ? "it" : "them"}; to import this file, pass --product-url`;
    }
  },
};

/**
 * Whether the service knows a product only from reviews: it has only an ID and a name, but no URL to import.
 * Assumed: omitting it from the file is better than a row that the import rejects; JSON includes it.
 */
function isKnownFromReviewsOnly({
  product_id: _id,
  name: _name,
  url,
  ...rest
}: ExportRow["record"]): boolean {
  const isEmpty = (value: ExportValue) => value === null || value === "" || value === false;
  return url === "" && Object.values(rest).every(isEmpty);
}

/** A product that changes while it is listed appears again, in its new state. */
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
