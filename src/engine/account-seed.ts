import { sql, type Transaction } from "kysely";
import { couponActions, type GroupName, reviewerTypes, ServiceError } from "../contract/index.ts";
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
import type { Database } from "../storage/database.ts";
import type { Tables } from "../storage/tables.ts";
import { productColumns } from "./products/product-store.ts";
import { dayOf } from "./kernel/times.ts";

/** An empty account, and the service whose state it is to have. */
export interface Seeding {
  readonly from: Service;
  /** The account's own service, for what is more than a row. */
  readonly to: Service;
  readonly database: Database;
  readonly accountId: number;
  readonly nowMs: number;
  readonly options: CallOptions;
}

type Seed = (seeding: Seeding) => Promise<readonly string[]>;

const seeds: Readonly<Partial<Record<GroupName, Seed>>> = {
  products: seedProducts,
  orders: async (seeding) => {
    const unknown = [...(await seedPurchases(seeding)), ...(await seedMailSettings(seeding))];
    return [...unknown, ...(await seedUnsubscribers(seeding).catch(passOverFeature))];
  },
  coupons: seedCoupons,
  unsubscribers: seedUnsubscribers,
  reviews: seedReviews,
};

/**
 * Copies the given records of an account from a service.
 * @returns what of it the service does not tell
 * @throws ServiceError
 */
export async function seedAccount(
  resources: readonly GroupName[],
  seeding: Seeding,
): Promise<readonly string[]> {
  const unknown: string[] = [];
  for (const resource of resources) unknown.push(...((await seeds[resource]?.(seeding)) ?? []));
  return unknown;
}

/** Whether anybody is unsubscribed matters to a forecast of mails alone. */
function passOverFeature(error: unknown): readonly string[] {
  if (error instanceof ServiceError && error.kind === "featureDisabled") return ["who is unsubscribed"];
  throw error;
}

async function seedProducts({ from, options, ...seeding }: Seeding): Promise<readonly string[]> {
  const unknown = new Set<string>();
  for await (const page of listProducts(from, { details: true }, options)) {
    const rows = page.map(readProduct);
    await write(seeding, (transaction) => insertProducts(rows, transaction, seeding));
    // Services that do not know of details leave these out.
    if (page.some(({ product_tags }) => product_tags === undefined)) {
      unknown.add("tags, blacklisting and further codes of products that are there");
    }
  }
  return [...unknown];
}

/** In the order of `productColumns`. */
function readProduct(product: ListedProduct): unknown[] {
  return [
    product.external_id,
    product.name,
    product.url,
    product.image_url,
    product.description,
    product.currency,
    product.price,
    product.product_tags ?? null,
    Number(product.blacklisted ?? false),
    product.upc ?? null,
    product.mpn,
    product.brand,
    product.isbn ?? null,
    product.external_sku ?? null,
    product.sku,
  ];
}

async function insertProducts(
  rows: readonly (readonly unknown[])[],
  transaction: Transaction<Tables>,
  { database, accountId, nowMs }: Omit<Seeding, "from" | "to" | "options">,
): Promise<void> {
  const names = Object.keys(productColumns).map((name) => sql.ref(name));
  await sql`
    insert into products (account_id, created_at, updated_at, ${sql.join(names)})
    select ${accountId}, ${nowMs}, ${nowMs}, ${sql.join(names)}
    from ${batchRows(productColumns, rows, database.dialect)} where true
    on conflict do nothing`.execute(transaction);
}

/** Orders with their purchases, and the products as the purchases name them. */
async function seedPurchases({ from, options, ...seeding }: Seeding): Promise<readonly string[]> {
  for await (const page of listPurchases(from, 0, options)) {
    await write(seeding, async (transaction) => {
      await insertProducts(page.map(readProductOf), transaction, seeding);
      await insertPurchases(page, transaction, seeding);
    });
  }
  return ["blacklisted products, stopped and earlier mails, and reviews, which would keep mails back"];
}

function readProductOf(purchase: ListedPurchase): unknown[] {
  return [
    purchase.product_sku,
    purchase.product_name,
    purchase.product_url,
    purchase.product_image ?? null,
    purchase.product_description,
    purchase.currency_iso ?? null,
    purchase.product_price ?? null,
    purchase.product_tags ?? null,
    0,
    purchase.upc ?? null,
    purchase.mpn ?? null,
    purchase.brand ?? null,
    purchase.isbn ?? null,
    purchase.external_sku ?? null,
    purchase.sku ?? null,
  ];
}

const purchaseColumns = {
  id: "integer",
  order_id: "text",
  email: "text",
  customer_name: "text",
  order_date: "integer",
  product_id: "text",
  platform: "text",
} as const;
interface PurchaseColumns {
  id: number;
  order_id: string;
  email: string;
  customer_name: string;
  order_date: number;
  product_id: string;
  platform: string;
}

/** A line of an order that comes again is one more unit of it, wherever it stands in the list. */
async function insertPurchases(
  page: readonly ListedPurchase[],
  transaction: Transaction<Tables>,
  { database, accountId, nowMs }: Omit<Seeding, "from" | "to" | "options">,
): Promise<void> {
  const rows = page.map((purchase) => [
    purchase.id,
    purchase.order_id,
    purchase.user_email,
    purchase.user_name,
    Date.parse(purchase.order_date),
    purchase.product_sku,
    purchase.platform ?? "general",
  ]);
  const batch = batchRows<PurchaseColumns>(purchaseColumns, rows, database.dialect);
  await sql`
    insert into orders (account_id, created_at, order_id, platform, email, customer_name, order_date)
    select ${accountId}, ${nowMs}, order_id, platform, email, customer_name, order_date from ${batch} where true
    on conflict do nothing`.execute(transaction);
  await sql`
    insert into purchases (account_id, created_at, id, order_row, product_row, unit)
    select ${accountId}, ${nowMs}, batch.id, orders.id, products.id,
      row_number() over (partition by orders.id, products.id order by batch.id)
        + (select count(*) from purchases as before
            where before.order_row = orders.id and before.product_row = products.id)
    from ${batch} cross join orders cross join products
    where orders.account_id = ${accountId} and orders.order_id = batch.order_id
      and products.account_id = ${accountId} and products.product_id = batch.product_id`.execute(transaction);
  const first = page[0]?.id ?? 0;
  await sql`
    insert into purchase_days (account_id, day, first_id, purchases)
    values (${accountId}, ${dayOf(nowMs)}, ${first}, ${page.length})
    on conflict (account_id, day) do update set purchases = purchase_days.purchases + excluded.purchases`.execute(
    transaction,
  );
}

/** What the account has set of its mails; a service that knows no such settings has its own ways. */
async function seedMailSettings({ from, to, options }: Seeding): Promise<readonly string[]> {
  try {
    const { settings } = await from.emailRules.list({}, options);
    for (const { name, value, changed } of settings) {
      if (changed) await to.emailRules.set({ name, value });
    }
    return [];
  } catch (error) {
    if (!(error instanceof ServiceError) || error.temporary) throw error;
    return ["by which rules mails are sent"];
  }
}

/** Assumed: the action of a code matters to nothing that an import of codes meets. */
async function seedCoupons({ from, options, ...seeding }: Seeding): Promise<readonly string[]> {
  const { accountId, nowMs, database } = seeding;
  const { coupons } = await from.coupons.list({ details: true }, options);
  for (let at = 0; at < coupons.length; at += codesAtOnce) {
    const rows = coupons
      .slice(at, at + codesAtOnce)
      .map(({ code, coupon_action }) => [code, coupon_action ?? couponActions[0]]);
    const batch = batchRows<{ code: string; action: string }>(
      { code: "text", action: "text" },
      rows,
      database.dialect,
    );
    await write(seeding, async (transaction) => {
      await sql`
        insert into coupons (account_id, created_at, code, action)
        select ${accountId}, ${nowMs}, code, action from ${batch} where true
        on conflict do nothing`.execute(transaction);
    });
  }
  return [];
}

const codesAtOnce = 5_000;

async function seedUnsubscribers({ from, options, ...seeding }: Seeding): Promise<readonly string[]> {
  const { accountId, nowMs, database } = seeding;
  const columns = { email: "text", email_key: "text", email_type_id: "integer", by_name: "text" } as const;
  for await (const page of listUnsubscribers(from, options)) {
    const rows = page.map(({ user_email, email_type_id, unsubscirbed_by_name }) => [
      user_email,
      user_email.toLowerCase(),
      email_type_id,
      unsubscirbed_by_name,
    ]);
    const batch = batchRows<Record<keyof typeof columns, string>>(columns, rows, database.dialect);
    await write(seeding, async (transaction) => {
      await sql`
        insert into unsubscribers (account_id, created_at, email, email_key, email_type_id, by_name)
        select ${accountId}, ${nowMs}, email, email_key, email_type_id, by_name from ${batch} where true
        on conflict do nothing`.execute(transaction);
    });
  }
  return [];
}

async function seedReviews({ from, to, options }: Seeding): Promise<readonly string[]> {
  for await (const page of listReviews(from, options)) {
    await Promise.all(page.map((review) => to.reviews.createNow(readReview(review))));
  }
  return [];
}

/** A product's or a review's name that is empty where it came from is a dash here, where it must say something. */
function readReview(review: ListedReview) {
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

function write(
  { database }: Pick<Seeding, "database">,
  work: (transaction: Transaction<Tables>) => Promise<void>,
): Promise<void> {
  return database.db.transaction().execute(work);
}
