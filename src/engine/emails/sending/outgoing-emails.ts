import { sql } from "kysely";
import {
  type Brand,
  type EmailSettings,
  extensionPrefix,
  isSiteRequest,
  isToShopper,
  siteReviewsId,
  templateCategoryOf,
} from "../../../contract/index.ts";
import type { OutgoingEmail } from "../../../email/outgoing-email.ts";
import { batchRows } from "../../../storage/batch.ts";
import type { Row } from "../../../storage/tables.ts";
import { isStoreUrl, readAccountProfile, readStoreDomains, type StoreDomains } from "../../accounts/account-profile.ts";
import { readEmailSettings } from "../../accounts/account-settings.ts";
import { readBrand } from "../../accounts/brand.ts";
import { languageOf } from "../../accounts/page-style.ts";
import { selectAccountRows } from "../../kernel/account-rows.ts";
import { accountIdOf, type HandlerContext } from "../../kernel/handler.ts";
import { createMessageKey } from "../message-key.ts";
import { clickUrl, linkUrl, openUrl, reviewUrl } from "../../kernel/signed-link.ts";
import { openProductView } from "../../products/product-view.ts";
import { dateOf, dayOf } from "../../kernel/times.ts";
import { storeRow } from "../rules/line-facts.ts";

/** An email that may be sent, and the products that it asks about. */
interface ApprovedEmail {
  readonly row: Row<"mails">;
  readonly productRows: readonly number[];
}

/** Data shared by all emails of an account. */
interface Sender {
  readonly appKey: string;
  readonly store: OutgoingEmail["store"];
  readonly brand: Brand;
  readonly settings: EmailSettings;
  /** The domains whose links are tracked. */
  readonly domains: StoreDomains;
  readonly templates: ReadonlyMap<string, Pick<OutgoingEmail, "template" | "templateState">>;
}

type OrderRow = Pick<Row<"orders">, "id" | "order_id" | "order_date" | "language">;
type ProductRow = Pick<Row<"products">, "id" | "product_id" | "name" | "url" | "image_url" | "named_by_visitor">;

type ReviewedProduct = Omit<ProductRow, "named_by_visitor">;

const orderColumns = ["orders.id", "orders.order_id", "orders.order_date", "orders.language"];
const productColumns = ["id", "product_id", "name", "url", "image_url", "named_by_visitor"].map(
  (name) => `products.${name}`,
);

/** Collects the data that the messages of emails of an account are composed of. The lifetime of their links starts now. */
export async function buildOutgoingEmails(
  approved: readonly ApprovedEmail[],
  context: HandlerContext,
): Promise<OutgoingEmail[]> {
  if (approved.length === 0) return [];
  const sender = await readSender(accountIdOf(context), context);
  const orderIds = approved.flatMap(({ row }) => row.order_row ?? []);
  const orders = await readByIds<OrderRow>(orderIds, orderColumns, context);
  const productIds = approved.flatMap(({ productRows }) => productRows);
  const products = await readByIds<ProductRow>(productIds, productColumns, context);
  // An order does not change products that are older than its import, so visitors may have named one.
  const { show } = await openProductView([...products.values()], accountIdOf(context), context);
  return approved.map(({ row, productRows }) => {
    const order = row.order_row === null ? undefined : orders.get(row.order_row);
    const orderedProducts = productRows.flatMap((id) => products.get(id) ?? []).map(show);
    const isSite = isSiteRequest(row.category);
    const reviewed = isSite ? [describeStore(sender.store)] : orderedProducts;
    const data =
      order || isSite
        ? buildOrderData(row, order, { products: reviewed, sender }, context)
        : buildOtherData(row, context);
    const { order_language: language = null } = data as { readonly order_language?: string | null };
    const brand = withLanguageOf(order ?? { language }, sender.brand);
    return toOutgoing(row, data, { ...sender, brand }, context);
  });
}

/** Emails about an order have its language, if it has one, and so do coupons for its reviews. */
function withLanguageOf(order: Pick<OrderRow, "language">, brand: Brand): Brand {
  const language = languageOf(order, brand);
  return language === brand.language ? brand : { ...brand, language };
}

function toOutgoing(
  row: Row<"mails">,
  data: OutgoingEmail["data"],
  { appKey, store, brand, settings, templates }: Sender,
  context: HandlerContext,
): OutgoingEmail {
  const source = { accountId: row.account_id, mailId: row.id };
  const my_reviews_url =
    isToShopper(row.category) && linkUrl({ ...source, kind: "my_reviews", id: row.id, person: row.email_key }, context);
  return {
    id: row.id,
    accountId: row.account_id,
    appKey,
    category: templateCategoryOf(row.category),
    to: { address: row.email, name: row.name },
    store,
    brand,
    data: my_reviews_url === false ? data : { ...data, my_reviews_url },
    unsubscribeUrl: linkUrl({ ...source, kind: "unsubscribe", id: row.id }, context),
    ...(settings.track_opens && { openUrl: openUrl(source, context) }),
    key: createMessageKey(row.id, context.sealer),
    ...templates.get(templateCategoryOf(row.category)),
  };
}

/**
 * Builds the template data of a review request.
 * Assumed: click tracking covers links to review forms, and to products on the store's domains. Unsubscribe links are not tracked, for privacy, and
 * the links in other emails are recorded when they are followed.
 */
function buildOrderData(
  { id: mailId, account_id: accountId }: Row<"mails">,
  order: OrderRow | undefined,
  {
    products,
    sender: { settings, domains },
  }: { readonly products: readonly ReviewedProduct[]; readonly sender: Pick<Sender, "settings" | "domains"> },
  context: HandlerContext,
): OutgoingEmail["data"] {
  const source = { accountId, mailId };
  const track = (url: string) => (settings.track_clicks ? clickUrl(source, url, context) : url);
  return {
    order_id: order?.order_id ?? null,
    order_date: order ? dateOf(dayOf(order.order_date)) : null,
    is_test: false,
    products: products.map(({ id: productRow, product_id, name, url, image_url }) => ({
      product_id,
      name,
      url: isStoreUrl(url, domains) ? track(url) : url,
      image_url,
      review_url: reviewUrl({ ...source, productRow }, context, settings.track_clicks),
    })),
  };
}

/** Describes the store like a product, for requests to review it. */
function describeStore({ name, url }: OutgoingEmail["store"]): ReviewedProduct {
  return { id: storeRow, product_id: siteReviewsId, name, url: url ?? "", image_url: null };
}

/**
 * Builds the template data of an email without an order. The review links of a test email are created here, when it is
 * sent, so that they use the public URL of the sending process, as for an order.
 */
function buildOtherData(
  { id, account_id: accountId, data }: Row<"mails">,
  context: HandlerContext,
): OutgoingEmail["data"] {
  const stored = rebaseLinks(JSON.parse(data) as Record<string, unknown>, context.publicUrl);
  if (stored["is_test"] !== true || !Array.isArray(stored["products"])) return stored;
  const review_url = linkUrl({ accountId, mailId: id, kind: "write_review", id }, context);
  for (const product of stored["products"] as object[]) Object.assign(product, { review_url });
  return stored;
}

/**
 * Replaces the public URL in the links of an email, which the process that queued it may not have known, by that of the
 * sending process.
 */
function rebaseLinks(data: Record<string, unknown>, publicUrl: string): Record<string, unknown> {
  const links = Object.entries(data).flatMap(([name, value]) => {
    if (!name.endsWith("_url") || name === "product_url" || typeof value !== "string") return [];
    const at = value.lastIndexOf(`${extensionPrefix}/`);
    return at < 0 ? [] : [[name, publicUrl + value.slice(at)] as const];
  });
  return { ...data, ...Object.fromEntries(links) };
}

async function readSender(accountId: number, context: HandlerContext): Promise<Sender> {
  const profile = await readAccountProfile(context, accountId);
  const templates = await selectAccountRows("mail_templates", accountId, context.transaction)
    .select(["category", "subject", "text", "html", "updated_at", "failures"])
    .where("disabled_at", "is", null)
    .execute();
  return {
    appKey: profile.appKey,
    store: { name: profile.displayName, url: profile.domain || null },
    brand: await readBrand(accountId, context),
    settings: await readEmailSettings(context, accountId),
    domains: await readStoreDomains(context, accountId),
    templates: new Map(
      templates.map(({ category, updated_at: savedAtMs, failures, ...template }) => [
        category,
        { template, templateState: { savedAtMs, failures } },
      ]),
    ),
  };
}

/** Reads columns of rows of the account by their IDs. */
async function readByIds<R extends { readonly id: number }>(
  ids: readonly number[],
  columns: readonly string[],
  context: HandlerContext,
): Promise<ReadonlyMap<number, R>> {
  if (ids.length === 0) return new Map();
  const [table = ""] = columns[0]?.split(".") ?? [];
  const rows = [...new Set(ids)].map((id) => [id]);
  const selected = await sql<R>`select ${sql.join(columns.map((name) => sql.ref(name)))}
    from ${batchRows({ id: "integer" }, rows, context.dialect)} cross join ${sql.table(table)}
    where ${sql.ref(`${table}.account_id`)} = ${accountIdOf(context)} and ${sql.ref(`${table}.id`)} = batch.id`.execute(
    context.transaction,
  );
  return new Map(selected.rows.map((row) => [row.id, row]));
}
