import {
  couponActions,
  type CouponAction,
  emailKeyOf,
  type GroupName,
  type LineColumn,
  lineColumns,
  orderFields,
  type OrderHead,
  type Platform,
  platforms,
  type RecordField,
  reviewerTypes,
  ServiceError,
} from "../contract/index.ts";
import {
  listProducts,
  listPurchases,
  listReviews,
  type ListedProduct,
  type ListedPurchase,
  type ListedReview,
  listUnsubscribers,
} from "../service/listings.ts";
import type { Service } from "../service/service.ts";
import type { CallOptions } from "../service/transport.ts";
import { batchRows } from "../storage/batch.ts";
import { insertCoupons } from "./coupons/coupons.ts";
import { type Account, accountOf, type EngineWork, type HandlerContext } from "./kernel/handler.ts";
import { type CheckedOrder, OrderRowCollector } from "./orders/order-rows.ts";
import { storeOrders } from "./orders/order-store.ts";
import { type ProductRow, toListedProductRow } from "./products/product-row.ts";
import { saveProducts } from "./products/product-store.ts";
import { insertUnsubscribers } from "./unsubscribers/unsubscribers.ts";

/** The source and the target of a copy. */
export interface Seeding {
  readonly from: Service;
  /** The service of the target account, which is empty. */
  readonly to: Service;
  /** The database of the target account. */
  readonly work: EngineWork;
  readonly account: Account;
  readonly options: CallOptions;
}

/** Returns descriptions of what could not be copied. */
type Seed = (seeding: Seeding) => Promise<readonly string[]>;

const seeds: Readonly<Partial<Record<GroupName, Seed>>> = {
  products: seedProducts,
  orders: async (seeding) => {
    const unknown = [...(await seedPurchases(seeding)), ...(await seedEmailSettings(seeding))];
    return [...unknown, ...(await seedUnsubscribers(seeding).catch(ignoreDisabledFeature))];
  },
  coupons: seedCoupons,
  unsubscribers: seedUnsubscribers,
  reviews: seedReviews,
};

/**
 * Copies records of the given kinds from a service to an empty account.
 * @returns descriptions of the data that the service does not provide
 * @throws ServiceError
 */
export async function seedAccount(resources: readonly GroupName[], seeding: Seeding): Promise<readonly string[]> {
  const unknown: string[] = [];
  for (const resource of resources) unknown.push(...((await seeds[resource]?.(seeding)) ?? []));
  return unknown;
}

/** Unsubscribers matter only for a forecast of emails, so a disabled feature does not prevent the copy. */
function ignoreDisabledFeature(error: unknown): readonly string[] {
  if (error instanceof ServiceError && error.kind === "featureDisabled") return ["unsubscribers"];
  throw error;
}

async function seedProducts({ from, options, ...seeding }: Seeding): Promise<readonly string[]> {
  const unknown = new Set<string>();
  for await (const page of listProducts(from, { details: true }, options)) {
    await write(seeding, (context) => saveProducts(page.map(toProductRow), context));
    // Services that do not support `details` omit these fields.
    if (page.some(({ product_tags }) => product_tags === undefined)) {
      unknown.add("tags, blacklisting, and some codes of existing products");
    }
  }
  return [...unknown];
}

function toProductRow(product: ListedProduct): ProductRow {
  return toListedProductRow(product.external_id, {
    ...product,
    currency_iso: product.currency,
    blacklisted: product.blacklisted ?? false,
  });
}

/** Copies orders with their purchases, and the products as described by the purchases. */
async function seedPurchases({ from, options, ...seeding }: Seeding): Promise<readonly string[]> {
  const unknown = ["blacklisted products, canceled and earlier emails, and reviews, which would suppress emails"];
  let isDetailed = true;
  for await (const page of listPurchases(from, 0, options, { details: true })) {
    // Services that do not support `details` omit these fields.
    isDetailed &&= page.every(({ product_price }) => product_price !== undefined);
    await write(seeding, async (context) => {
      const storedUnits = await countStoredUnits(page, context);
      for (const [platform, purchases] of groupBy(page, (purchase) => readPlatform(purchase))) {
        const rows = new OrderRowCollector();
        for (const order of toOrders(purchases, storedUnits)) rows.add(order, { platform, sendsMail: false });
        await storeOrders(rows.finish(), {}, context);
      }
    });
  }
  return isDetailed ? unknown : [...unknown, "prices, currencies, and user references of existing orders"];
}

/** Other services may use platforms that the contract does not have. */
function readPlatform({ platform }: ListedPurchase): Platform {
  return platforms.find((name) => name === platform) ?? "general";
}

const lineKey = (orderId: string, productId: string): string => JSON.stringify([orderId, productId]);

/** Counts the stored purchases of each order line on the page: an order may continue on the next page. */
async function countStoredUnits(
  page: readonly ListedPurchase[],
  context: HandlerContext,
): Promise<ReadonlyMap<string, number>> {
  const lines = page.map(({ order_id, product_sku }) => [order_id, product_sku]);
  const columns = { order_id: "text", product_id: "text" } as const;
  const rows = await context.transaction
    .selectFrom(batchRows<{ order_id: string; product_id: string }>(columns, lines, context.dialect))
    .distinct()
    .crossJoin("orders")
    .crossJoin("products")
    .innerJoin("purchases", (join) =>
      join
        .on("purchases.account_id", "=", accountOf(context).id)
        .onRef("purchases.order_row", "=", "orders.id")
        .onRef("purchases.product_row", "=", "products.id"),
    )
    .where("orders.account_id", "=", accountOf(context).id)
    .whereRef("orders.order_id", "=", "batch.order_id")
    .where("products.account_id", "=", accountOf(context).id)
    .whereRef("products.product_id", "=", "batch.product_id")
    .select(["batch.order_id", "batch.product_id", "purchases.unit"])
    .execute();
  const units = new Map<string, number>();
  for (const { order_id, product_id, unit } of rows) {
    const key = lineKey(order_id, product_id);
    units.set(key, Math.max(units.get(key) ?? 0, unit));
  }
  return units;
}

/** Each purchase of the same product in the same order is one more unit of an order line. */
function toOrders(purchases: readonly ListedPurchase[], storedUnits: ReadonlyMap<string, number>): CheckedOrder[] {
  return [...groupBy(purchases, ({ order_id }) => order_id).values()].flatMap((ofOrder) => {
    const [first] = ofOrder;
    if (!first) return [];
    const lines = groupBy(ofOrder, ({ product_sku }) => product_sku);
    const items = [...lines].flatMap(([productId, units]) => {
      const [unit] = units;
      if (!unit) return [];
      const stored = storedUnits.get(lineKey(first.order_id, productId)) ?? 0;
      const prices = units.map(({ product_price }) => product_price ?? null);
      return {
        product: toPurchasedProductRow(unit),
        price: null,
        quantity: stored + units.length,
        unitPrices: [...Array.from({ length: stored }, () => null), ...prices],
      };
    });
    const head = Object.fromEntries(
      Object.entries<RecordField>(orderFields).map(([name, { listedAs }]) => [
        name,
        first[(listedAs ?? name) as keyof ListedPurchase],
      ]),
    ) as OrderHead;
    return [{ orderId: head.order_id, head, items, errors: [], dropped: [] }];
  });
}

function toPurchasedProductRow(purchase: ListedPurchase): ProductRow {
  const values = Object.entries(lineColumns).map(([column, name]) => [name, purchase[column as LineColumn]]);
  return toListedProductRow(purchase.product_sku, {
    ...Object.fromEntries(values),
    currency_iso: purchase.currency_iso,
  });
}

/** Copies the email settings that the account has changed. Other services may not support them. */
async function seedEmailSettings({ from, to, options }: Seeding): Promise<readonly string[]> {
  try {
    const { settings } = await from.emailRules.list({}, options);
    for (const { name, value, changed } of settings) {
      if (changed) await to.emailRules.set({ name, value });
    }
    return [];
  } catch (error) {
    if (!(error instanceof ServiceError) || error.temporary) throw error;
    return ["email rules"];
  }
}

const couponsPerBatch = 5_000;

/** Assumed: if the service does not report a coupon's action, any will do, because imports do not depend on it. */
async function seedCoupons({ from, options, ...seeding }: Seeding): Promise<readonly string[]> {
  const { coupons } = await from.coupons.list({ details: true }, options);
  const byAction = groupBy(coupons, ({ coupon_action }) => coupon_action ?? couponActions[0]);
  for (const [action, ofAction] of byAction) {
    for (let start = 0; start < ofAction.length; start += couponsPerBatch) {
      const codes = ofAction.slice(start, start + couponsPerBatch).map(({ code }) => code);
      await write(seeding, (context) => insertCoupons(codes, action as CouponAction, context));
    }
  }
  return [];
}

async function seedUnsubscribers({ from, options, ...seeding }: Seeding): Promise<readonly string[]> {
  for await (const page of listUnsubscribers(from, options)) {
    await write(seeding, async (context) => {
      for (const [byName, rows] of groupBy(page, (row) => row.unsubscirbed_by_name)) {
        const addresses = rows.map(
          ({ email_type_id, user_email }) =>
            [email_type_id, user_email, emailKeyOf(user_email)] as [number, string, string],
        );
        await insertUnsubscribers(addresses, byName, context);
      }
    });
  }
  return [];
}

async function seedReviews({ from, to, options }: Seeding): Promise<readonly string[]> {
  for await (const page of listReviews(from, options)) {
    await Promise.all(page.map((review) => to.reviews.createNow(toNewReview(review))));
  }
  return [];
}

/** Converts a listed review to input for `createNow`. Required texts that are empty become a dash. */
function toNewReview(review: ListedReview) {
  const { sku, title, content, score, email, name, created_at, published = true, comment } = review;
  const reviewer_type = reviewerTypes.find((type) => type === review.reviewer_type);
  return {
    sku,
    product_title: review.product_title || sku,
    product_url: review.product_url,
    display_name: name || "-",
    email,
    review_title: title || "-",
    review_content: content || "-",
    review_score: score,
    user_reference: review.user_reference,
    past: { created_at, published, comment: comment || null, ...(reviewer_type && { reviewer_type }) },
  };
}

/** Runs `work` in a transaction as the target account. */
function write(
  { work, account }: Pick<Seeding, "work" | "account">,
  task: (context: HandlerContext) => Promise<unknown>,
): Promise<unknown> {
  return work.write(account.id, (context) => task({ ...context, account }));
}

function groupBy<K, T>(elements: readonly T[], keyOf: (element: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const element of elements) {
    const key = keyOf(element);
    const group = groups.get(key);
    if (group) group.push(element);
    else groups.set(key, [element]);
  }
  return groups;
}
