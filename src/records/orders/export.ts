import { orderFields, purchasePage, type RecordField, toShortPrice } from "../../contract/index.ts";
import { listPurchases, type ListedPurchase } from "../../service/listings.ts";
import type { ExportRow, RecordExporter } from "../../export/record-exporter.ts";

export const orderExporter: RecordExporter = {
  itemName: { one: "line item", many: "line items" },
  sortKeys: 3,

  pages: async function* (service, { since }, options) {
    const request = {
      count: purchasePage.recommended,
      details: true,
      ...(since !== undefined && { since_date: since }),
    };
    for await (const page of listPurchases(service, 0, options, request)) yield page.map(toRow);
  },
};

function toRow(purchase: ListedPurchase): ExportRow {
  const { id, order_id, product_sku, order_date, product_price } = purchase;
  const listed = Object.entries<RecordField>(orderFields).flatMap(([name, { listedAs }]) =>
    listedAs === undefined ? [] : [[name, purchase[listedAs as keyof ListedPurchase]]],
  );
  return {
    id,
    sortKeys: [order_id, product_sku, id],
    record: {
      ...purchase,
      ...Object.fromEntries(listed),
      order_date: order_date.slice(0, "YYYY-MM-DD".length),
      product_id: product_sku,
      product_price: typeof product_price === "string" ? toShortPrice(product_price) : product_price,
    },
  };
}
