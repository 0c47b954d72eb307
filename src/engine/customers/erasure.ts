import { sql } from "kysely";
import {
  type ErasedCounts,
  invalidField,
  personalOrderFields,
  type ReviewErasure,
  webhookEvents,
} from "../../contract/index.ts";
import type { Tables } from "../../storage/tables.ts";
import { suppressErased } from "../emails/events/suppressions.ts";
import { findRows, selectAccountRows, updateAccountRows } from "../kernel/account-rows.ts";
import type { HandlerContext } from "../kernel/handler.ts";
import { removeFromIndex } from "../kernel/lists/part-index.ts";
import { replaceResults } from "../kernel/stored-results.ts";
import { countUnsent, eraseEmails, eraseTexts } from "./erase-texts.ts";
import { createRedactor, erasedName } from "./redaction.ts";
import { reindexReviews } from "../reviews/review-index.ts";
import { eraseMentions } from "./mentions.ts";
import type { CustomerRows } from "./customer-rows.ts";

/** The tables with data of customers, or with notes and settings that may mention them. */
export const erasedTables: readonly (keyof Tables)[] = [
  "account_settings",
  "answers",
  "coupons",
  "idempotent_calls",
  "mail_events",
  "mail_messages",
  "mail_suppressions",
  "mail_templates",
  "mails",
  "missed_products",
  "order_emails",
  "orders",
  "products",
  "question_events",
  "question_words",
  "questions",
  "review_events",
  "review_images",
  "review_words",
  "reviews",
  "search_blocks",
  "search_postings",
  "test_recipients",
  "unsubscribers",
  "users",
  "webhook_attempts",
  "webhook_deliveries",
];

/**
 * Rejects the address of the account's owner, whose emails, name, and texts are the store's.
 * @throws ServiceError `invalidParams`
 */
export async function rejectOwner(
  { accountId, key }: CustomerRows["person"],
  { transaction }: Pick<HandlerContext, "transaction">,
): Promise<void> {
  const owner = await selectAccountRows("users", accountId, transaction)
    .select("id")
    .where("kind", "=", "owner")
    .where("address_key", "=", key)
    .executeTakeFirst();
  if (owner) throw invalidField("email", "belongs to the owner of the account, who is not a customer");
}

/** Counts what an erasure would change. */
export async function countCustomerRows(rows: CustomerRows, context: HandlerContext): Promise<ErasedCounts> {
  const { customer, reviews, questions, ownAnswers, answersToQuestions, mails, mailsToOthers, deliveries } = rows;
  return {
    orders: customer.orders.length,
    reviews: reviews.length,
    images: customer.reviews.reduce((sum, { images }) => sum + images, 0),
    questions: questions.length,
    answers: ownAnswers.length + answersToQuestions.length,
    mails: mails.length,
    canceled_mails: await countUnsent(rows, context),
    mails_to_others: mailsToOthers.length,
    unsubscriptions: customer.unsubscribed.length,
    suppressions: customer.suppressed.filter(({ kind }) => kind !== "erased").length,
    missed_products: customer.missed_products.length,
    coupons: customer.coupons.length,
    webhook_deliveries: deliveries.length,
    stored_results: await replaceResults(createRedactor(rows.values), context, true),
    mentions: 0,
  };
}

/**
 * Erases everything that identifies a customer. Orders stay under a pseudonym, so that totals do not change. Nothing is sent
 * to the address any more: its hash is suppressed.
 */
export async function eraseCustomer(
  rows: CustomerRows,
  reviews: ReviewErasure,
  context: HandlerContext,
): Promise<ErasedCounts> {
  const { person } = rows;
  const id = context.random(8).toString("hex");
  // The domain is reserved, so nobody has the address. Source: RFC 2606.
  const pseudonym = `erased-${id}@erased.invalid`;
  const planned = await countCustomerRows(rows, context);
  const images = await eraseTexts(rows, reviews, context);
  const canceled_mails = await eraseEmails(rows, pseudonym, context);
  await pseudonymizeOrders(person, pseudonym, context);
  await pseudonymizeUsers(person, pseudonym, id, context);
  await reindexReviews({ authors: person.userRows }, person.accountId, context);
  await removePersonFromIndex(rows, context);
  await deleteSubscriptions(person, context);
  await eraseDeliveries(rows, context);
  await replaceResults(createRedactor(rows.values), context);
  const mentions = await eraseMentions(rows, pseudonym, context);
  await suppressErased(person.email, person.accountId, context);
  return { ...planned, images, canceled_mails, mentions };
}

async function pseudonymizeOrders(
  { accountId, orderRows, key }: CustomerRows["person"],
  pseudonym: string,
  { transaction, dialect }: HandlerContext,
): Promise<void> {
  if (orderRows.length > 0) {
    await transaction
      .updateTable("orders")
      .set({
        email: pseudonym,
        customer_name: erasedName,
        ...Object.fromEntries(personalOrderFields.map((name) => [name, null])),
      })
      .where(dialect.withoutIndex(sql.ref<number>("account_id")), "=", accountId)
      .where("id", "in", orderRows)
      .execute();
    await updateAccountRows("order_emails", accountId, transaction)
      .set({ email_key: pseudonym })
      .where("order_row", "in", orderRows)
      .execute();
  }
  await updateAccountRows("missed_products", accountId, transaction)
    .set({ user_email: pseudonym, email_key: pseudonym, user_name: erasedName })
    .where("email_key", "=", key)
    .execute();
  await updateAccountRows("coupons", accountId, transaction)
    .set({ issued_to: null, email_key: null })
    .where("email_key", "=", key)
    .execute();
}

async function pseudonymizeUsers(
  { accountId, userRows }: CustomerRows["person"],
  pseudonym: string,
  id: string,
  { transaction }: HandlerContext,
): Promise<void> {
  for (const [at, row] of userRows.entries()) {
    await updateAccountRows("users", accountId, transaction)
      .set({ email: pseudonym, address_key: pseudonym, display_name: erasedName, bio: null, social_image: null })
      .set({ email_key: sql`case when email_key is null then null else cast(${pseudonym} as text) end` })
      .set({ slug: at === 0 ? `anonymous-${id}` : `anonymous-${id}-${at}` })
      .where("id", "=", row)
      .execute();
  }
}

async function removePersonFromIndex({ person, mails }: CustomerRows, context: HandlerContext): Promise<void> {
  const { accountId, key, orderRows, userRows } = person;
  const unsubscribers = await findRows("unsubscribers", ["id"], { account_id: accountId, email_key: key }, context);
  const rows = { orders: orderRows, mails, users: userRows, unsubscribers: unsubscribers.map(({ id }) => id) };
  for (const [table, ids] of Object.entries(rows)) await removeFromIndex(table as keyof typeof rows, ids, context);
}

async function deleteSubscriptions({ accountId, key }: CustomerRows["person"], { transaction }: HandlerContext) {
  for (const table of ["unsubscribers", "mail_suppressions", "test_recipients"] as const) {
    await transaction
      .deleteFrom(table)
      .where("account_id", "=", accountId)
      .where(sql<string>`email_key`, "=", key)
      .execute();
  }
}

/** Deliveries that have not been made are given up, because their receivers must not get the data any more. */
async function eraseDeliveries({ person, deliveries }: CustomerRows, { transaction }: HandlerContext): Promise<void> {
  if (deliveries.length === 0) return;
  const update = updateAccountRows("webhook_deliveries", person.accountId, transaction).where("id", "in", deliveries);
  await update
    .set({ state: "failed", reason: "the customer's data was erased", worker: null, leased_until: null })
    .where("state", "in", ["queued", "leased"])
    .execute();
  for (const event of webhookEvents) {
    const body = JSON.stringify({ event, data: { erased: true } });
    await update.set({ body }).where("event_name", "=", event).execute();
  }
}
