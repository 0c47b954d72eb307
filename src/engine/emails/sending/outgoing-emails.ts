import { sql } from "kysely";
import type { EmailCategory, EmailSettings } from "../../../contract/index.ts";
import type { EmailTemplate, OutgoingEmail } from "../../../email/outgoing-email.ts";
import { batchRows } from "../../../storage/batch.ts";
import type { Row } from "../../../storage/tables.ts";
import { readAccountProfile, storeNameOf } from "../../accounts/account-profile.ts";
import { readEmailSettings } from "../../accounts/account-settings.ts";
import type { HandlerContext } from "../../kernel/handler.ts";
import { createMessageKey } from "../../kernel/email-key.ts";
import { clickUrl, linkUrl, openUrl, reviewUrl } from "../../kernel/email-links.ts";
import { dateOf, dayOf } from "../../kernel/times.ts";

/** A mail that passed its rules, and the products that it asks about. */
export interface ApprovedEmail {
  readonly row: Row<"mails">;
  readonly productRows: readonly number[];
}

/** What the mails of an account have in common. */
interface Sender {
  readonly store: OutgoingEmail["store"];
  readonly settings: EmailSettings;
  readonly templates: ReadonlyMap<string, EmailTemplate>;
}

type OrderRow = Pick<Row<"orders">, "id" | "order_id" | "order_date">;
type ProductRow = Pick<Row<"products">, "id" | "product_id" | "name" | "url" | "image_url">;

/** Gathers all that the messages of mails are made of; the links in them work from now on. */
export async function buildOutgoingEmails(
  passed: readonly ApprovedEmail[],
  context: HandlerContext,
): Promise<OutgoingEmail[]> {
  const senders = new Map<number, Sender>();
  for (const { row } of passed) {
    if (!senders.has(row.account_id)) senders.set(row.account_id, await readSender(row.account_id, context));
  }
  const orders = await readOrders(passed, context);
  const products = await readProducts(passed, context);
  return passed.map(({ row, productRows }) => {
    const sender = senders.get(row.account_id);
    if (!sender) throw new Error(`nothing is known of the sender of mail ${row.id}`);
    const order = row.order_row === null ? undefined : orders.get(row.order_row);
    const asked = productRows.flatMap((id) => products.get(id) ?? []);
    const data = order
      ? describeOrder(row, order, { asked, settings: sender.settings }, context)
      : describeOther(row, context);
    return toOutgoing(row, data, sender, context);
  });
}

function toOutgoing(
  row: Row<"mails">,
  data: OutgoingEmail["data"],
  { store, settings, templates }: Sender,
  context: HandlerContext,
): OutgoingEmail {
  const mail = { accountId: row.account_id, mailId: row.id };
  const template = templates.get(row.category);
  return {
    id: row.id,
    accountId: row.account_id,
    category: row.category as EmailCategory,
    to: { address: row.email, name: row.name },
    store,
    data,
    unsubscribeUrl: linkUrl({ ...mail, kind: "unsubscribe", id: row.id }, context),
    ...(settings.track_opens && { openUrl: openUrl(mail, context) }),
    key: createMessageKey(row.id, context.sealer),
    ...(template && { template }),
  };
}

/**
 * What a review request speaks of.
 * Assumed: where clicks are tracked, those on a product and on the page to review it are; a link to unsubscribe is
 * nobody's business, and the links of other mails tell of themselves once they are followed.
 */
function describeOrder(
  { id: mailId, account_id: accountId }: Row<"mails">,
  { order_id, order_date }: OrderRow,
  { asked, settings }: { readonly asked: readonly ProductRow[]; readonly settings: EmailSettings },
  context: HandlerContext,
): OutgoingEmail["data"] {
  const mail = { accountId, mailId };
  const track = (url: string) => (settings.track_clicks ? clickUrl(mail, url, context) : url);
  return {
    order_id,
    order_date: dateOf(dayOf(order_date)),
    is_test: false,
    products: asked.map(({ id: productRow, product_id, name, url, image_url }) => ({
      product_id,
      name,
      url: url === "" ? url : track(url),
      image_url,
      review_url: track(reviewUrl({ ...mail, productRow }, context)),
    })),
  };
}

/**
 * What a mail speaks of that is about no order. The sample products of a test mail are reviewed where whoever sends it
 * is reached, as those of an order are, and not where it was asked for.
 */
function describeOther(
  { id, account_id: accountId, data }: Row<"mails">,
  context: HandlerContext,
): OutgoingEmail["data"] {
  const kept = JSON.parse(data) as Record<string, unknown>;
  if (kept["is_test"] !== true || !Array.isArray(kept["products"])) return kept;
  const review_url = linkUrl({ accountId, mailId: id, kind: "write_review", id }, context);
  for (const product of kept["products"] as object[]) Object.assign(product, { review_url });
  return kept;
}

async function readSender(accountId: number, context: HandlerContext): Promise<Sender> {
  const profile = await readAccountProfile(context, accountId);
  const own = await context.transaction
    .selectFrom("mail_templates")
    .select(["category", "subject", "text", "html"])
    .where("account_id", "=", accountId)
    .execute();
  return {
    store: { name: storeNameOf(profile), url: profile.domain || null },
    settings: await readEmailSettings(context, accountId),
    templates: new Map(own.map(({ category, ...template }) => [category, template])),
  };
}

async function readOrders(
  passed: readonly ApprovedEmail[],
  { transaction, dialect }: HandlerContext,
): Promise<ReadonlyMap<number, OrderRow>> {
  const ids = passed.flatMap(({ row }) => row.order_row ?? []);
  if (ids.length === 0) return new Map();
  const rows = await transaction
    .selectFrom(batchRows<{ id: number }>({ id: "integer" }, toRows(ids), dialect))
    .crossJoin("orders")
    .whereRef("orders.id", "=", sql.ref("batch.id"))
    .select(["orders.id", "orders.order_id", "orders.order_date"])
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}

async function readProducts(
  passed: readonly ApprovedEmail[],
  { transaction, dialect }: HandlerContext,
): Promise<ReadonlyMap<number, ProductRow>> {
  const ids = passed.flatMap(({ productRows }) => productRows);
  if (ids.length === 0) return new Map();
  const rows = await transaction
    .selectFrom(batchRows<{ id: number }>({ id: "integer" }, toRows(ids), dialect))
    .crossJoin("products")
    .whereRef("products.id", "=", sql.ref("batch.id"))
    .select(["products.id", "products.product_id", "products.name", "products.url", "products.image_url"])
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}

function toRows(ids: readonly number[]): number[][] {
  return [...new Set(ids)].map((id) => [id]);
}
