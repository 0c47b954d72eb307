import type { ReviewRequest } from "../../../contract/index.ts";
import type { Row } from "../../../storage/tables.ts";
import { readAccountProfile } from "../../accounts/account-profile.ts";
import { sameAccount, selectAccountRows } from "../../kernel/account-rows.ts";
import type { HandlerContext } from "../../kernel/handler.ts";
import { publicName } from "../../accounts/shoppers.ts";
import { type Claim, readClaim } from "../../kernel/signed-link.ts";
import { iso } from "../../kernel/times.ts";

export type RequestedProduct = Pick<Row<"products">, "product_id" | "name" | "url" | "image_url">;

/** A review request, with everything needed to display it. */
export interface Requested {
  readonly mail: Pick<Row<"mails">, "id" | "category" | "email" | "name"> & { readonly accountId: number };
  readonly appKey: string;
  /** Absent for a test email. */
  readonly order?: { readonly id: number; readonly userReference: string | null } | undefined;
  readonly product: RequestedProduct;
  readonly storeName: string;
  readonly isUnsubscribed: boolean;
  /** The recipient's name as a known shopper; otherwise, the name of the order is used. */
  readonly knownName: string | undefined;
  readonly review: ReviewRequest["review"];
}

/** Finds the review request of a link token. Returns undefined if the token is invalid or expired, or if its email or product was deleted. */
export async function findRequested(token: string, context: HandlerContext): Promise<Requested | undefined> {
  const claim = readClaim(token, ["write_review"], context);
  const mail = claim && (await findEmail(claim, context));
  if (!mail) return undefined;
  const { order_row: orderRow, user_reference, app_key, unsubscriber, known_name, ...row } = mail;
  const isTest = orderRow === null;
  const product = (await findProduct(claim, context)) ?? (isTest ? readSample(mail.data) : undefined);
  if (!product) return undefined;
  const profile = await readAccountProfile(context, claim.accountId);
  return {
    mail: { ...row, accountId: claim.accountId },
    appKey: app_key,
    order: isTest ? undefined : { id: orderRow, userReference: user_reference },
    product,
    storeName: profile.displayName,
    isUnsubscribed: unsubscriber !== null,
    knownName: known_name ?? undefined,
    review: isTest ? null : await findWritten(orderRow, claim, context),
  };
}

function findEmail({ id, accountId }: Claim, { transaction }: HandlerContext) {
  return selectAccountRows("mails", accountId, transaction)
    .innerJoin("accounts", "accounts.id", "mails.account_id")
    .leftJoin("orders", sameAccount("orders.id", "mails.order_row"))
    .leftJoin("unsubscribers", (join) =>
      join
        .onRef("unsubscribers.account_id", "=", "mails.account_id")
        .onRef("unsubscribers.email_type_id", "=", "mails.email_type_id")
        .onRef("unsubscribers.email_key", "=", "mails.email_key"),
    )
    .leftJoin("users", sameAccount("users.email_key", "mails.email_key"))
    .select(["mails.id", "mails.category", "mails.email", "mails.name", "mails.data", "mails.order_row"])
    .select(["orders.user_reference", "accounts.app_key", "unsubscribers.id as unsubscriber"])
    .select("users.display_name as known_name")
    .where("mails.id", "=", id)
    .executeTakeFirst();
}

async function findProduct(
  { productRow = 0, accountId }: Claim,
  { transaction }: HandlerContext,
): Promise<RequestedProduct | undefined> {
  return selectAccountRows("products", accountId, transaction)
    .select(["product_id", "name", "url", "image_url"])
    .where("id", "=", productRow)
    .executeTakeFirst();
}

function readSample(data: string): RequestedProduct {
  const { products: [product = {}] = [] } = JSON.parse(data) as {
    readonly products?: readonly Partial<RequestedProduct>[];
  };
  const { product_id = "sample", name = "Sample product", url = "", image_url = null } = product;
  return { product_id, name, url, image_url };
}

/** Finds the review written for the order, even if it is hidden. */
async function findWritten(
  orderRow: number,
  { productRow = 0, accountId }: Claim,
  { transaction }: HandlerContext,
): Promise<Requested["review"]> {
  const found = await selectAccountRows("reviews", accountId, transaction)
    .innerJoin("users", sameAccount("users.id", "reviews.user_row"))
    .select(["reviews.score", "reviews.title", "reviews.content", "reviews.reviewer_type"])
    .select(["reviews.created_at", "users.display_name", "users.kind"])
    .where("reviews.order_row", "=", orderRow)
    .where("reviews.product_row", "=", productRow)
    .executeTakeFirst();
  if (!found) return null;
  const { score, title, content, reviewer_type, created_at } = found;
  return {
    score,
    title,
    content,
    display_name: publicName(found),
    verified_buyer: reviewer_type === "verified_buyer",
    created_at: iso(created_at),
  };
}
