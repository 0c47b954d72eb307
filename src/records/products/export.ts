import { listProducts, type ListedProduct } from "../../service/listings.ts";
import { type ProductField, productFields } from "../../contract/index.ts";
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
      const what = omitted === 1 ? "1 product" : `${omitted} products`;
      yield `omitted ${what} known only from reviews; importing the reviews restores ${omitted === 1 ? "it" : "them"}`;
    }
    const count = counts.get(withoutUrl) ?? 0;
    if (count > 0) {
      const what = count === 1 ? "1 product has" : `${count} products have`;
      yield `${what} no URL because only a review named ${count === 1 ? "it" : "them"}; to import this file, pass --product-url`;
    }
  },
};

/**
 * Whether the service knows a product only from reviews: it has only an ID and a name, but no URL to import.
 * Assumed: omitting it from the file is better than a row that the import rejects; JSON includes it.
 */
function isKnownFromReviewsOnly({ product_id: _id, name: _name, url, ...rest }: ExportRow["record"]): boolean {
  const isEmpty = (value: ExportValue) => value === null || value === "" || value === false;
  return url === "" && Object.values(rest).every(isEmpty);
}

/** A product that changes while it is listed appears again, in its new state. */
function toRow(product: ListedProduct): ExportRow {
  return { id: product.external_id, sortKeys: [product.external_id], record: toRecord(product) };
}

/** The values of a product by column; undefined where the service does not return one. */
export function toRecord(product: ListedProduct): ExportRow["record"] {
  const values: Readonly<Record<string, unknown>> = product;
  const columns = Object.entries<ProductField>(productFields).map(([name, { listedAs = name }]) => [
    name,
    values[listedAs],
  ]);
  return { product_id: product.external_id, ...(Object.fromEntries(columns) as ExportRow["record"]) };
}
