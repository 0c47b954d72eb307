import { emailTypes, type Customer, type CustomerSuppression, personalOrderFields } from "../../contract/index.ts";
import { batchOfIds } from "../../storage/batch.ts";
import { readAddressHasher } from "../emails/events/suppressions.ts";
import { selectEmails, toRecord } from "../emails/email-list.ts";
import { sameAccount, selectAccountRows } from "../kernel/account-rows.ts";
import type { HandlerContext } from "../kernel/handler.ts";
import { iso } from "../kernel/times.ts";
import { selectReviewParts, toParts } from "../reviews/review-parts.ts";
import { stateOf } from "../reviews/review-index.ts";
import type { Person } from "./person.ts";
import { sql } from "kysely";

/** Reads everything that the service stores about a customer, newest first. */
export async function readCustomer(person: Person, context: HandlerContext): Promise<Customer> {
  const found = {
    orders: await readOrders(person, context),
    reviews: await readReviews(person, context),
    questions: await readQuestions(person, context),
    answers: await readAnswers(person, context),
    mails: await readEmails(person, context),
    unsubscribed: await readUnsubscribed(person, context),
    suppressed: await readSuppressed(person, context),
    missed_products: await readMissedProducts(person, context),
    coupons: await readCoupons(person, context),
  };
  return { email: person.email, names: listNames(found, person), ...found };
}

function listNames(
  { orders, reviews, questions, answers, mails, missed_products }: Omit<Customer, "email" | "names">,
  person: Person,
) {
  const named = [...reviews, ...questions, ...answers].map(({ display_name }) => display_name);
  const ordered = [...orders, ...missed_products].map(({ customer_name }) => customer_name);
  const names = [...ordered, ...named, ...mails.map(({ name }) => name), ...person.names].filter((name) => name !== "");
  return [...new Set(names)];
}

async function readOrders({ accountId, orderRows }: Person, context: HandlerContext): Promise<Customer["orders"]> {
  const { transaction } = context;
  const orders = await transaction
    .selectFrom(batchOfIds(orderRows, context.dialect))
    .crossJoin("orders")
    .where("orders.account_id", "=", accountId)
    .whereRef("orders.id", "=", sql.ref("batch.id"))
    .selectAll("orders")
    .orderBy("orders.order_date", "desc")
    .orderBy("orders.id", "desc")
    .execute();
  const lines = await transaction
    .selectFrom(batchOfIds(orderRows, context.dialect))
    .crossJoin("purchases")
    .innerJoin("products", sameAccount("products.id", "purchases.product_row"))
    .where("purchases.account_id", "=", accountId)
    .whereRef("purchases.order_row", "=", sql.ref("batch.id"))
    .select(["purchases.order_row", "products.product_id", "products.name"])
    .select(({ fn }) => [
      fn.countAll<number | bigint>().as("quantity"),
      fn.min("purchases.price").as("price"),
      fn.min("purchases.id").as("first"),
    ])
    .groupBy(["purchases.order_row", "products.product_id", "products.name"])
    .orderBy("first")
    .execute();
  const productsOf = (row: number) =>
    lines
      .filter(({ order_row }) => order_row === row)
      .map(({ product_id, name, quantity, price }) => ({ product_id, name, quantity: Number(quantity), price }));
  type Personal = Pick<(typeof orders)[number], (typeof personalOrderFields)[number]>;
  return orders.map((order) => {
    const { order_id, order_date, platform, customer_name, email, created_at } = order;
    const own = { order_id, order_date: iso(order_date), platform, customer_name, email };
    const personal = Object.fromEntries(personalOrderFields.map((name) => [name, order[name]])) as Personal;
    return Object.assign(own, personal, { created_at: iso(created_at), products: productsOf(order.id) });
  });
}

async function readReviews({ accountId, userRows }: Person, context: HandlerContext): Promise<Customer["reviews"]> {
  if (userRows.length === 0) return [];
  const rows = await selectReviewParts(accountId, context)
    .where("reviews.user_row", "in", userRows)
    .orderBy("reviews.id", "desc")
    .execute();
  return rows.map(toParts).map(({ review, author, product }) => ({
    id: review.id,
    product_id: product?.product_id ?? null,
    display_name: author.display_name,
    score: review.score,
    title: review.title,
    content: review.content,
    comment: review.comment,
    reviewer_type: review.reviewer_type,
    state: stateOf(review),
    user_reference: review.user_reference,
    images: review.images,
    created_at: iso(review.created_at),
  }));
}

async function readQuestions({ accountId, userRows }: Person, { transaction }: HandlerContext) {
  if (userRows.length === 0) return [];
  const rows = await selectAccountRows("questions", accountId, transaction)
    .innerJoin("products", sameAccount("products.id", "questions.product_row"))
    .innerJoin("users", sameAccount("users.id", "questions.user_row"))
    .where("questions.user_row", "in", userRows)
    .select(["questions.id", "products.product_id", "users.display_name", "questions.content", "questions.state"])
    .select("questions.created_at")
    .select((eb) =>
      eb
        .selectFrom("answers")
        .select(({ fn }) => fn.countAll<number | bigint>().as("answers"))
        .where("answers.account_id", "=", accountId)
        .whereRef("answers.question_row", "=", "questions.id")
        .as("answers"),
    )
    .orderBy("questions.id", "desc")
    .execute();
  return rows.map((row) => Object.assign(row, { answers: Number(row.answers ?? 0), created_at: iso(row.created_at) }));
}

async function readAnswers({ accountId, userRows }: Person, { transaction }: HandlerContext) {
  if (userRows.length === 0) return [];
  const rows = await selectAccountRows("answers", accountId, transaction)
    .innerJoin("questions", sameAccount("questions.id", "answers.question_row"))
    .innerJoin("products", sameAccount("products.id", "questions.product_row"))
    .innerJoin("users", sameAccount("users.id", "answers.user_row"))
    .where("answers.user_row", "in", userRows)
    .select(["answers.id", "questions.id as question_id", "products.product_id", "users.display_name"])
    .select(["answers.content", "answers.created_at"])
    .orderBy("answers.id", "desc")
    .execute();
  return rows.map((row) => Object.assign(row, { created_at: iso(row.created_at) }));
}

async function readEmails({ accountId, key }: Person, context: HandlerContext): Promise<Customer["mails"]> {
  const rows = await selectEmails(context)
    .where("mails.account_id", "=", accountId)
    .where("mails.email_key", "=", key)
    .orderBy("mails.id", "desc")
    .execute();
  return rows.map(toRecord);
}

const typeIds = Object.keys(emailTypes).map(Number);

async function readUnsubscribed({ accountId, key }: Person, { transaction }: HandlerContext) {
  const rows = await selectAccountRows("unsubscribers", accountId, transaction)
    .select(["email_type_id", "by_name as by", "created_at"])
    .where("email_type_id", "in", typeIds)
    .where("email_key", "=", key)
    .orderBy("email_type_id")
    .execute();
  return rows.map((row) => {
    const email_type = emailTypes[row.email_type_id as keyof typeof emailTypes];
    return Object.assign(row, { email_type, created_at: iso(row.created_at) });
  });
}

async function readSuppressed(
  { accountId, key, email }: Person,
  context: HandlerContext,
): Promise<Customer["suppressed"]> {
  const hashes = await readAddressHasher(accountId, context);
  const rows = await selectAccountRows("mail_suppressions", accountId, context.transaction)
    .select(["kind", "created_at"])
    .where("email_key", "in", [key, ...(hashes?.(email) ?? [])])
    .orderBy("kind")
    .execute();
  return rows.map(({ kind, created_at }) => ({ kind: kind as CustomerSuppression, created_at: iso(created_at) }));
}

async function readMissedProducts({ accountId, key }: Person, { transaction }: HandlerContext) {
  const rows = await selectAccountRows("missed_products", accountId, transaction)
    .select(["order_id", "product_sku as product_id", "product_name as name", "user_name as customer_name"])
    .select("created_at")
    .where("email_key", "=", key)
    .orderBy("id", "desc")
    .execute();
  return rows.map((row) => Object.assign(row, { created_at: iso(row.created_at) }));
}

async function readCoupons({ accountId, key }: Person, { transaction }: HandlerContext) {
  const rows = await selectAccountRows("coupons", accountId, transaction)
    .select(["code", "action as coupon_action", "issued_at"])
    .where("email_key", "=", key)
    .orderBy("issued_at", "desc")
    .orderBy("id", "desc")
    .execute();
  return rows.map((row) => Object.assign(row, { issued_at: iso(row.issued_at ?? 0) }));
}
