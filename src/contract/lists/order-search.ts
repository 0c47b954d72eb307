import * as z from "zod";
import { endpoint, extensionPrefix, route } from "../endpoint.ts";
import { lazyObject } from "../lazy-object.ts";
import { purchaseRecord } from "../orders.ts";
import { orderDetails } from "../record-fields.ts";
import { sameSchema } from "../record-schema.ts";
import { shape, timestamp } from "../shapes.ts";
import { nextPage, partOfText, searchListing, searchPaging, timeRange } from "./filters.ts";

/** An order with its products. */
const foundOrder = lazyObject(() => ({
  order_id: z.string(),
  platform: z.string(),
  email: z.string(),
  customer_name: z.string(),
  order_date: timestamp(),
  ...sameSchema(orderDetails, z.string().nullable()),
  created_at: timestamp(),
  /** Whether review-request emails are sent for it. */
  send_mail: z.boolean(),
  products: z.array(
    z.object({
      product_id: z.string(),
      name: z.string(),
      url: z.string(),
      quantity: z.number().int(),
      /** The price of the first unit. */
      price: z.string().nullable(),
      /** The ID of the review that an email about this order led to. */
      review_id: z.number().int().nullable(),
    }),
  ),
}));
export type FoundOrder = z.output<ReturnType<typeof foundOrder>>;

const prefix = `${extensionPrefix}/apps/{app_key}/orders`;

export const orderSearch = {
  search: endpoint({
    summary: "List the order lines that match filters, newest first",
    listing: { items: "purchases", ...searchListing },
    ...route("GET", prefix),
    effect: "read",
    input: () => ({
      email: shape.email.optional(),
      product_id: shape.id.optional(),
      order_id: shape.id.optional(),
      /** Part of the order ID, the address, or the name. With it, orders are sorted by ID. */
      search: partOfText().optional(),
      ...timeRange(),
      ...searchPaging(),
    }),
    output: () => ({ purchases: z.array(purchaseRecord()), pagination: nextPage() }),
  }),
  get: endpoint({
    summary: "Get an order with its products",
    ...route("GET", `${prefix}/{order_id}`),
    effect: "read",
    input: () => ({ order_id: shape.id }),
    output: () => ({ order: foundOrder() }),
  }),
};
