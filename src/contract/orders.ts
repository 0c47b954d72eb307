import * as z from "zod";
import { endpoint } from "./endpoint.ts";
import { specDetails, specs } from "./products.ts";
import { enveloped, flat, flatTextCode } from "./reply.ts";
import { detailsQuery, shape, timestamp } from "./shapes.ts";
import { lazily } from "./lazily.ts";

/** Allowed values of `platform`. Source: spec "Platform parameter values (orders)". */
export const platforms = [
  "three_d_cart",
  "americommerce",
  "bigcommerce",
  "commerce_guys",
  "cscart",
  "ebay",
  "eccube",
  "seoshop",
  "magento",
  "opencart",
  "prestashop",
  "shopify",
  "shoplo",
  "storenvy",
  "volusion",
  "woocommerce",
  "wp_ecommerce",
  "zepo",
  "general",
] as const;
export type Platform = (typeof platforms)[number];

const platform = lazily(() => z.enum(platforms, { error: `must be one of ${platforms.join(", ")}` }));

/** Most units of one product in one order. Assumed: a limit of `quantity`, which is no field of the specification. */
export const maxQuantity = 1_000;

/** One product of an order, in the map keyed by product id. Source: spec "Order (input)". */
export const orderProduct = lazily(() =>
  z.object({
    name: shape.name,
    url: shape.url,
    image: shape.optionalUrl.nullish(),
    description: shape.text.nullish(),
    price: shape.price.nullish(),
    product_tags: shape.tags.nullish(),
    specs: specs().nullish(),
    /**
     * Line items of this product in the order, which the map's one key cannot say otherwise: each is a purchase.
     * Assumed: an addition to the specification; 1 where absent, and a service that does not know it passes over it.
     */
    quantity: z.number().int().min(1).max(maxQuantity).optional(),
    /**
     * The price of each unit in turn, where they are not the same; null where a unit has none.
     * Assumed: an addition to the specification; `price` is that of the product, and of the units beyond the list.
     */
    unit_prices: z.array(shape.price.nullable()).max(maxQuantity).optional(),
  }),
);
export type OrderProduct = z.output<ReturnType<typeof orderProduct>>;

/** One order without its products. Source: spec "Order (input)". */
export const orderHead = lazily(() =>
  z.object({
    email: shape.email,
    customer_name: shape.name,
    order_id: shape.id,
    order_date: shape.date.nullish(),
    currency_iso: shape.currency.nullish(),
    user_reference: shape.reference.nullish(),
  }),
);
export type OrderHead = z.output<ReturnType<typeof orderHead>>;

/** One order of a bulk call, as sent; each is checked by itself, so that one bad order does not refuse the call. */
const looseOrder = lazily(() =>
  z.looseObject({ order_id: z.unknown().optional(), products: z.unknown().optional() }),
);

type LooseOrder = z.infer<ReturnType<typeof looseOrder>>;

/** The same, without a look at each member: a bulk call holds many. */
function isLooseOrder(value: unknown): value is LooseOrder {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * A problem with one order. `order_num` (bulk only) is its position in the list.
 * Source: spec "Orders (purchases)". Assumed: `errors` is a list, and is there only where it is not empty.
 */
export const orderError = lazily(() =>
  z.looseObject({
    order_num: z.number().int().optional(),
    order_id: z.string().nullable(),
    field: z.string(),
    error: z.string(),
  }),
);
export type OrderError = z.output<ReturnType<typeof orderError>>;

const errors = lazily(() => z.array(orderError()).optional());

/**
 * Whether the orders of a call bring review requests; they do where it is absent.
 * Assumed: an addition to the specification, whose orders all do; a service that does not know it passes over it.
 */
const send_mail = lazily(() => shape.boolean.optional());

/** Mails of the call's orders that wait, and the day on which the first goes; only where `send_mail` was said to be true. */
const waitingMails = lazily(() => z.object({ queued: z.number().int(), first_due: shape.date.nullable() }));

/** Source: spec "Purchase record (output)". */
export const purchaseRecord = lazily(() =>
  z.object({
    id: z.number().int(),
    user_email: z.string(),
    user_name: z.string(),
    order_id: z.string(),
    product_sku: z.string(),
    product_name: z.string(),
    product_url: z.string(),
    order_date: timestamp(),
    product_description: z.string().nullable(),
    created_at: timestamp(),
    /** From here on only with `details`: of the order, of this unit's price, and of the product as it is now. */
    platform: z.string().optional(),
    currency_iso: z.string().nullish(),
    user_reference: z.string().nullish(),
    product_image: z.string().nullish(),
    product_price: z.string().nullish(),
    product_tags: z.string().nullish(),
    ...specDetails(),
  }),
);

/** Purchases on a page where `count` is not given, as many as are recommended, and at most. Source: spec "Limits". Assumed: at most 5,000. */
export const purchasePage = { default: 10, recommended: 200, max: 5_000 } as const;

export const orders = {
  create: endpoint({
    summary: "Create one order",
    method: "POST",
    paths: ["/apps/{app_key}/purchases"],
    auth: "utoken",
    effect: "repeatable",
    input: () =>
      looseOrder().extend({
        platform: platform(),
        validate_data: shape.boolean.optional(),
        send_mail: send_mail(),
      }),
    output: () => z.object({ errors: errors() }),
    reply: flat,
  }),
  massCreate: endpoint({
    summary: "Create orders in bulk",
    method: "POST",
    paths: ["/apps/{app_key}/purchases/mass_create.json", "/apps/{app_key}/purchases/mass_create"],
    auth: "utoken",
    effect: "repeatable",
    input: () =>
      z.object({
        platform: platform(),
        validate_data: shape.boolean.optional(),
        send_mail: send_mail(),
        orders: z.array(z.custom<LooseOrder>(isLooseOrder, { error: "must be an object" }), {
          error: "must be a list of orders",
        }),
      }),
    output: () => z.object({ uuid: z.string(), errors: errors(), mails: waitingMails().optional() }),
    reply: flat,
    batch: { field: "orders", recommended: 200 },
  }),
  list: endpoint({
    summary: "List purchases",
    listing: { items: "purchases", by: "since_id", size: { field: "count", max: purchasePage.max } },
    method: "GET",
    paths: ["/apps/{app_key}/purchases"],
    auth: "utoken",
    effect: "read",
    input: () =>
      z.object({
        since_id: shape.count.optional(),
        since_date: shape.date.optional(),
        count: shape.count.optional(),
        page: shape.count.optional(),
        ...detailsQuery(),
      }),
    output: () => z.object({ purchases: z.array(purchaseRecord()), total_purchases: z.number().int() }),
    reply: enveloped,
  }),
  cancelEmails: endpoint({
    summary: "Stop the mails of orders, or of chosen products in them",
    destroys: { question: "Stop the mails of these orders" },
    method: "DELETE",
    paths: ["/apps/{app_key}/purchases"],
    auth: "utoken",
    effect: "repeatable",
    input: () =>
      z.object({
        orders: z.array(z.object({ order_id: shape.id, skus: z.array(shape.id).optional() }), {
          error: "must be a list of {order_id, skus}",
        }),
      }),
    output: () => z.object({}),
    reply: flatTextCode,
  }),
};
