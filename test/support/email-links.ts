import { clickUrl, linkUrl, openUrl, reviewUrl } from "../../src/engine/kernel/signed-link.ts";
import type { Harness, TestAccount } from "./backends.ts";
import { anOrder, anOrderedProduct } from "./builders.ts";

/** A stored email about an order, or a test email. */
export interface StoredEmail {
  readonly mailId: number;
  readonly accountId: number;
  readonly productRow: number;
}

/** Creates an order, and returns the emails that it queued. */
export async function createOrderEmails(
  harness: Harness,
  { service }: TestAccount,
  fields: Record<string, unknown> = {},
): Promise<StoredEmail[]> {
  const products = { teapot: anOrderedProduct({ name: "Teapot" }) };
  const before = await readStoredEmails(harness);
  await service.orders.massCreate({ platform: "general", orders: [anOrder({ products, ...fields })] });
  return (await readStoredEmails(harness)).slice(before.length);
}

/** Returns all stored emails, oldest first. */
export async function readStoredEmails({ database }: Harness): Promise<StoredEmail[]> {
  const rows = await database.db
    .selectFrom("mails")
    .select(["id", "account_id", "product_row"])
    .orderBy("id")
    .execute();
  return rows.map(({ id, account_id, product_row }) => ({
    mailId: id,
    accountId: account_id,
    productRow: product_row ?? 0,
  }));
}

/** Returns functions that create the tokens of an email's links at the current time. */
export function createLinkTokens({ sealer, clock }: Harness, email: StoredEmail) {
  const context = { sealer, nowMs: clock(), publicUrl: "http://localhost" };
  const tokenOf = (url: string) => url.slice(url.lastIndexOf("/") + 1);
  return {
    review: (productRow = email.productRow) => tokenOf(reviewUrl({ ...email, productRow }, context)),
    answer: (id: number) => tokenOf(linkUrl({ ...email, kind: "answer_question", id }, context)),
    open: () => tokenOf(openUrl(email, context)),
    click: (url: string) => tokenOf(clickUrl(email, url, context)),
    myReviews: (person: string) =>
      tokenOf(linkUrl({ ...email, kind: "my_reviews", id: email.mailId, person }, context)),
    unsubscribe: () => tokenOf(linkUrl({ ...email, kind: "unsubscribe", id: email.mailId }, context)),
  };
}
