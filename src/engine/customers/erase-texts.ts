import { sql } from "kysely";
import {
  type EmailCategory,
  type EmailRuleName,
  emailRuleNames,
  type EmailState,
  type ReviewErasure,
} from "../../contract/index.ts";
import { deleteRows, findRows, selectAccountRows, updateAccountRows } from "../kernel/account-rows.ts";
import type { HandlerContext } from "../kernel/handler.ts";
import { removePublicIds } from "../kernel/public-ids.ts";
import { refreshQuestions } from "../questions/question-index.ts";
import { countSpace } from "../reviews/photo-storage.ts";
import { updateStarTotals } from "../reviews/star-totals.ts";
import { erasedName } from "./redaction.ts";
import { isOwnEvent, type CustomerRows } from "./customer-rows.ts";
import { recordEmailEvents } from "../kernel/email-log.ts";

/** Row IDs per statement. SQLite allows 32,766 values in one statement. */
const chunkSize = 5_000;

/** Deletes the rows of an account in which a column has one of the values. */
async function deleteRowsOf(
  table: string,
  column: string,
  ids: readonly number[],
  { accountId, transaction }: { readonly accountId: number; readonly transaction: HandlerContext["transaction"] },
): Promise<void> {
  for (let start = 0; start < ids.length; start += chunkSize) {
    await sql`delete from ${sql.table(table)} where account_id = ${accountId}
      and ${sql.ref(column)} in (${sql.join(ids.slice(start, start + chunkSize))})`.execute(transaction);
  }
}

/** Erases the texts of a customer: reviews as requested, and questions and answers completely. */
export async function eraseTexts(rows: CustomerRows, reviews: ReviewErasure, context: HandlerContext): Promise<number> {
  const images = await eraseImages(rows, context);
  if (reviews === "delete") await deleteReviews(rows, context);
  else await anonymizeReviews(rows, context);
  await deleteQuestions(rows, context);
  return images;
}

/** Reviews of an account, by row ID. */
interface ErasedReviews extends Pick<CustomerRows, "reviews"> {
  readonly person: Pick<CustomerRows["person"], "accountId">;
}

export async function eraseImages(
  { person: { accountId }, reviews }: ErasedReviews,
  context: HandlerContext,
): Promise<number> {
  if (reviews.length === 0) return 0;
  const ofReviews = { account_id: accountId, review_row: reviews };
  const found = await findRows("review_images", ["id", "photo_size", "thumb_size"], ofReviews, context);
  await countSpace(accountId, found, context, -1);
  const ids = found.map(({ id }) => id);
  await deleteRowsOf("review_images", "id", ids, { accountId, ...context });
  await removePublicIds("image", ids, accountId, context);
  return ids.length;
}

/** The person who made a decision can be the customer. */
const eraseActor = ({ customer }: CustomerRows) =>
  sql<string>`case when by_name in (${sql.join(["", ...customer.names])}) then ${erasedName} else by_name end`;

async function anonymizeReviews(rows: CustomerRows, context: HandlerContext): Promise<void> {
  const { person, reviews } = rows;
  const { accountId } = person;
  if (reviews.length === 0) return;
  const { transaction, nowMs } = context;
  await updateAccountRows("reviews", accountId, transaction)
    .set({ title: "", content: "", user_reference: null, domain: null, comment: null, comment_at: null })
    .set({ images: 0, updated_at: nowMs })
    .where("id", "in", reviews)
    .execute();
  await updateAccountRows("review_events", accountId, transaction)
    .set({ reason: null, previous: null, by_name: eraseActor(rows) })
    .where("review_row", "in", reviews)
    .execute();
}

export async function deleteReviews(
  { person: { accountId }, reviews }: ErasedReviews,
  context: HandlerContext,
): Promise<void> {
  if (reviews.length === 0) return;
  const { transaction } = context;
  const counted = await selectAccountRows("reviews", accountId, transaction)
    .select(["product_row as productRow", "score"])
    .where("id", "in", reviews)
    .where("published", "=", 1)
    .execute();
  const hidden = counted.map(({ productRow, score }) => ({ productRow, score, by: -1 as const }));
  await updateStarTotals(hidden, accountId, context);
  const scope = { accountId, transaction };
  await deleteRowsOf("review_events", "review_row", reviews, scope);
  await deleteRowsOf("review_words", "review_row", reviews, scope);
  await deleteVotes("review", reviews, scope);
  await deleteRowsOf("reviews", "id", reviews, scope);
  await removePublicIds("review", reviews, accountId, context);
}

async function deleteVotes(
  target: "review" | "answer",
  ids: readonly number[],
  { accountId, transaction }: { readonly accountId: number; readonly transaction: HandlerContext["transaction"] },
): Promise<void> {
  if (ids.length === 0) return;
  await deleteRows("votes", { account_id: accountId, target, target_row: ids }, { transaction });
}

/** Deletes the customer's answers, and the customer's questions with all answers, which mean nothing without them. */
async function deleteQuestions(rows: CustomerRows, context: HandlerContext): Promise<void> {
  const { person, questions, ownAnswers, answersToQuestions } = rows;
  const { accountId } = person;
  const { transaction } = context;
  const answers = [...ownAnswers, ...answersToQuestions];
  await updateAccountRows("question_events", accountId, transaction)
    .set({ reason: null, previous: null, by_name: eraseActor(rows) })
    .where(isOwnEvent(rows))
    .execute();
  if (questions.length + answers.length === 0) return;
  const { rows: affected } = await sql<{ id: number; product_row: number }>`
    select id, product_row from questions where account_id = ${accountId} and (
      id in (${sql.join([0, ...questions])}) or id in (select question_row from answers
        where account_id = ${accountId} and id in (${sql.join([0, ...answers])})))`.execute(transaction);
  const scope = { accountId, transaction };
  await deleteVotes("answer", answers, scope);
  await deleteRowsOf("answers", "id", answers, scope);
  await deleteRowsOf("questions", "id", questions, scope);
  await removePublicIds("answer", answers, accountId, context);
  await refreshQuestions(
    affected.map(({ id }) => id),
    accountId,
    context,
  );
  for (const row of new Set(affected.map(({ product_row }) => product_row))) {
    await countQuestions(accountId, row, context);
  }
}

/** Counts the public questions of a product again, and their public answers. */
async function countQuestions(accountId: number, productRow: number, { transaction }: HandlerContext): Promise<void> {
  const published = sql`from questions where questions.account_id = ${accountId}
    and questions.product_row = ${productRow} and questions.state = 'public'`;
  await sql`update question_totals set questions = (select count(*) ${published}),
    answers = (select count(*) from answers where answers.account_id = ${accountId} and answers.published = 1
      and answers.question_row in (select questions.id ${published}))
    where account_id = ${accountId} and product_row = ${productRow}`.execute(transaction);
}

/** States of emails that have not been sent. */
const unsent: readonly EmailState[] = ["queued", "leased", "sending"];

const canceled = "stopped_by_hand" satisfies EmailRuleName;

/**
 * Cancels the customer's queued emails, removes the content of all, and replaces the address. Removes the content of emails
 * that quote the customer to others, too.
 * @returns the number of canceled emails
 */
export async function eraseEmails(rows: CustomerRows, pseudonym: string, context: HandlerContext): Promise<number> {
  const { person, mails, mailsToOthers } = rows;
  const { accountId } = person;
  const all = [...mails, ...mailsToOthers];
  if (all.length === 0) return 0;
  const canceledMails = await cancelEmails(all, accountId, context);
  const update = (ids: readonly number[]) =>
    updateAccountRows("mails", accountId, context.transaction).where("id", "in", [0, ...ids]);
  await update(mails).set({ email: pseudonym, email_key: pseudonym, name: "", provider_id: null }).execute();
  await update(all).set({ data: "{}" }).execute();
  // Responses of mail servers quote addresses.
  await update(all).set({ reason: null }).where("reason", "not in", emailRuleNames).execute();
  await updateAccountRows("mail_events", accountId, context.transaction)
    .set({ detail: null })
    .where("mail_row", "in", all)
    .where("detail", "is not", null)
    .where("detail", "not in", emailRuleNames)
    .execute();
  await deleteRowsOf("mail_messages", "mail_row", all, { accountId, ...context });
  return canceledMails;
}

/** Counts emails that have not been sent. */
export async function countUnsent(
  { person: { accountId }, mails, mailsToOthers }: Pick<CustomerRows, "person" | "mails" | "mailsToOthers">,
  { transaction, dialect }: HandlerContext,
): Promise<number> {
  const found = await transaction
    .selectFrom("mails")
    .select("id")
    .where(dialect.withoutIndex(sql.ref<number>("account_id")), "=", accountId)
    .where("id", "in", [0, ...mails, ...mailsToOthers])
    .where("state", "in", unsent)
    .execute();
  return found.length;
}

async function cancelEmails(ids: readonly number[], accountId: number, context: HandlerContext): Promise<number> {
  const { transaction, dialect } = context;
  const changed = await transaction
    .updateTable("mails")
    .set({ state: "not_sent", reason: canceled, worker: null, leased_until: null })
    .where(dialect.withoutIndex(sql.ref<number>("account_id")), "=", accountId)
    .where("id", "in", ids)
    .where("state", "in", unsent)
    .returning(["id", "category"])
    .execute();
  const events = changed.map(({ id: mailId, category }) => {
    return { accountId, mailId, category: category as EmailCategory, event: "not_sent", detail: canceled } as const;
  });
  await recordEmailEvents(events, context);
  return changed.length;
}
