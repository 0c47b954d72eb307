import { purchasePage, toShortPrice } from "../../contract/index.ts";
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
  const { id, order_id, product_sku, product_price } = purchase;
  return {
    id,
    sortKeys: [order_id, product_sku, id],
    record: {
      ...purchase,
      email: purchase.user_email,
      customer_name: purchase.user_name,
      order_date: purchase.order_date.slice(0, "YYYY-MM-DD".length),
      product_id: product_sku,
      product_price: typeof product_price === "string" ? toShortPrice(product_price) : product_price,
    },
  };
}
