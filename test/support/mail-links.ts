import { clickUrl, linkUrl, openUrl, reviewUrl } from "../../src/engine/kernel/email-links.ts";
import type { Harness, TestAccount } from "./backends.ts";
import { anOrder, anOrderedProduct } from "./builders.ts";

/** A mail of the outbox that is about an order, or a test mail. */
export interface StoredMail {
  readonly mailId: number;
  readonly accountId: number;
  readonly productRow: number;
}

/** Stores an order of the products, and gives the mails that it brought. */
export async function orderMails(
  harness: Harness,
  { service }: TestAccount,
  fields: Record<string, unknown> = {},
): Promise<StoredMail[]> {
  const products = { teapot: anOrderedProduct({ name: "Teapot" }) };
  const before = await storedMails(harness);
  await service.orders.massCreate({
    platform: "general",
    orders: [anOrder({ products, ...fields })],
  });
  return (await storedMails(harness)).slice(before.length);
}

/** All mails of the store. */
export async function storedMails({ database }: Harness): Promise<StoredMail[]> {
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

/** The tokens of a mail's addresses, made now. */
export function tokensOf({ sealer, clock }: Harness, mail: StoredMail) {
  const context = { sealer, nowMs: clock(), publicUrl: "http://localhost" };
  const tokenOf = (url: string) => url.slice(url.lastIndexOf("/") + 1);
  return {
    review: (productRow = mail.productRow) => tokenOf(reviewUrl({ ...mail, productRow }, context)),
    open: () => tokenOf(openUrl(mail, context)),
    click: (url: string) => tokenOf(clickUrl(mail, url, context)),
    unsubscribe: () => tokenOf(linkUrl({ ...mail, kind: "unsubscribe", id: mail.mailId }, context)),
  };
}
