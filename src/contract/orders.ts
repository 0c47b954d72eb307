import * as z from "zod";
import { endpoint } from "./endpoint.ts";
import { specs } from "./products.ts";
import { enveloped, flat, flatTextCode } from "./reply.ts";
import { outcomesInput, outcomesOutput } from "./outcomes.ts";
import { day, detailsQuery, shape, timestamp } from "./shapes.ts";
import { lazily } from "./lazily.ts";
import { lineDetails, lineFields, orderDetails, orderFields, specFields } from "./record-fields.ts";
import { createSureCheck, sameSchema, schemasOf } from "./record-schema.ts";
import { isJsonObject } from "./json-text.ts";

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

/** Maximum quantity of one product in one order. Assumed: the specification has no `quantity`, and thus no limit. */
export const maxQuantity = 1_000;

/**
 * Limits of orders, because a call is stored at once. Assumed: the specification states none. Units are the sum of
 * `quantity`; problems are the invalid values that the response reports.
 */
export const orderLimits = {
  products: 1_000,
  units: 5_000,
  ordersPerCall: 2_000,
  unitsPerCall: 5_000,
  problemsPerCall: 2_000,
  cancellationsPerCall: 10_000,
} as const;

const quantityText = `must be an integer from 0 to ${maxQuantity}`;

/** One product of an order, in the map keyed by product ID. Source: spec "Order (input)". */
export const orderProduct = lazily(() =>
  z.object({
    ...schemasOf(lineFields, "create"),
    specs: specs().nullish(),
    /**
     * The number of line items for this product, each of which becomes a purchase. The map has only one key per product.
     * 0 removes the product from a stored order.
     * Assumed: an extension of the specification (default: 1); services that do not know it ignore it.
     */
    quantity: z
      .number({ error: quantityText })
      .int(quantityText)
      .min(0, quantityText)
      .max(maxQuantity, quantityText)
      .optional(),
    /**
     * The price of each unit, if they differ; null for a unit without a price.
     * Assumed: an extension of the specification; `price` is the product's price, and that of units beyond the list.
     */
    unit_prices: z.array(shape.price.nullable()).max(maxQuantity, `has more than ${maxQuantity} prices`).optional(),
    /**
     * The currency of the product's price, if it differs from the order's.
     * Assumed: an extension of the specification, in which a product has the currency of the last order that names it.
     */
    currency_iso: shape.currency.optional(),
  }),
);
export type OrderProduct = z.output<ReturnType<typeof orderProduct>>;

const areLineFieldsSure = createSureCheck(lineFields);
const areSpecsSure = createSureCheck(specFields);

/** Whether the schema would return a product without units as it is. If not, the schema must decide. */
export function isSurelyProduct(given: unknown): given is OrderProduct {
  if (!isJsonObject(given)) return false;
  const { specs: values, quantity, unit_prices, currency_iso } = given;
  if (quantity !== undefined || unit_prices !== undefined || currency_iso !== undefined) return false;
  return areLineFieldsSure(given) && (values === undefined || (isJsonObject(values) && areSpecsSure(values)));
}

/** An order without its products. Source: spec "Order (input)". */
export const orderHead = lazily(() => z.object(schemasOf(orderFields, "create")));
export type OrderHead = z.output<ReturnType<typeof orderHead>>;

const areOrderFieldsSure = createSureCheck(orderFields);

/** Whether the schema would return an order's own fields as they are. If not, the schema must decide. */
export function isSurelyHead(given: Readonly<Record<string, unknown>>): given is OrderHead {
  return areOrderFieldsSure(given);
}

/** One order of a bulk call, as sent. Orders are validated one by one, so that an invalid order does not fail the call. */
const looseOrder = lazily(() => z.looseObject({ order_id: z.unknown().optional(), products: z.unknown().optional() }));

type LooseOrder = z.infer<ReturnType<typeof looseOrder>>;

/**
 * An error in one order. `order_num` (bulk only) is its position in the list.
 * Source: spec "Orders (purchases)". Assumed: `errors` is a list, and is omitted if it is empty.
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

/** The error of an order that repeats a stored order ID with another customer's email address. */
export const orderConflictText = "differs from the email address of the stored order with this ID";

const errors = lazily(() => z.array(orderError()).optional());

/**
 * Whether the orders of a call trigger review requests (default: true).
 * Assumed: an extension of the specification, in which all orders do; services that do not know it ignore it.
 */
const send_mail = lazily(() => shape.boolean.optional());

/**
 * Only products with a higher ID are changed by the orders of a call (default: 0, which means all); new ones are always
 * created. With the highest ID before an import, the import leaves the products alone that existed before it.
 * Assumed: an extension of the specification, in which an order changes its products; services that do not know it ignore
 * it. `last_id` of the product list is the highest ID.
 */
const update_products_since_id = lazily(() => shape.count.optional());

/** The number of queued emails for the call's orders, and when the first is due. Present only if `send_mail` is explicitly true. */
const waitingMails = lazily(() => z.object({ queued: z.number().int(), first_due: day().nullable() }));

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
    /** The following fields are present only with `details`: the order's, this unit's price, and the product's current ones. */
    platform: z.string().optional(),
    ...sameSchema([...orderDetails, ...lineDetails], z.string().nullish()),
  }),
);

/** Page sizes of the purchase list. Source: spec "Limits". Assumed: the maximum. */
export const purchasePage = { default: 10, recommended: 200, max: 5_000 } as const;

export const orders = {
  create: endpoint({
    summary: "Create one order",
    overwrites: { question: "Store order {order_id}, replacing stored values if it exists" },
    method: "POST",
    paths: ["/apps/{app_key}/purchases"],
    auth: "utoken",
    effect: "repeatable",
    roles: ["importer"],
    input: () =>
      looseOrder().extend({
        platform: platform(),
        validate_data: shape.boolean.optional(),
        send_mail: send_mail(),
        ...outcomesInput(),
      }),
    output: () => z.object({ errors: errors(), ...outcomesOutput() }),
    reply: flat,
  }),
  massCreate: endpoint({
    summary: "Create orders in bulk",
    overwrites: { question: "Store these orders, replacing the values of those that exist" },
    method: "POST",
    paths: ["/apps/{app_key}/purchases/mass_create.json", "/apps/{app_key}/purchases/mass_create"],
    auth: "utoken",
    effect: "repeatable",
    roles: ["importer"],
    input: () =>
      z.object({
        platform: platform(),
        validate_data: shape.boolean.optional(),
        send_mail: send_mail(),
        update_products_since_id: update_products_since_id(),
        ...outcomesInput(),
        // Does not inspect the fields, because a bulk call has many orders.
        orders: z.array(z.custom<LooseOrder>(isJsonObject, { error: "must be an object" }), {
          error: "must be a list of orders",
        }),
      }),
    output: () =>
      z.object({ uuid: z.string(), errors: errors(), mails: waitingMails().optional(), ...outcomesOutput() }),
    reply: flat,
    batch: { field: "orders", recommended: 200, max: orderLimits.ordersPerCall },
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
        since_date: shape.time.optional(),
        count: shape.page.optional(),
        page: shape.page.optional(),
        ...detailsQuery(),
      }),
    output: () => z.object({ purchases: z.array(purchaseRecord()), total_purchases: z.number().int() }),
    reply: enveloped,
  }),
  cancelEmails: endpoint({
    summary: "Cancel the emails of orders, or of some of their products",
    destroys: { question: "Cancel the emails of these orders" },
    method: "DELETE",
    paths: ["/apps/{app_key}/purchases"],
    auth: "utoken",
    effect: "repeatable",
    roles: ["support", "importer"],
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
