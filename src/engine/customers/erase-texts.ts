import { sql } from "kysely";
import type { ReviewErasure } from "../../contract/index.ts";
import { deleteAccountRows, selectAccountRows, updateAccountRows } from "../kernel/account-rows.ts";
import type { HandlerContext } from "../kernel/handler.ts";
import { removePublicIds } from "../kernel/public-ids.ts";
import { refreshQuestions } from "../questions/question-index.ts";
import { countReviews } from "../reviews/star-totals.ts";
import { erasedName } from "./names.ts";
import { isOwnEvent, type Traces } from "./traces.ts";

/** Row IDs per statement. SQLite allows 32,766 values in one statement. */
const chunkSize = 5_000;

/** Deletes the rows of an account in which a column has one of the values. */
export async function deleteRows(
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
export async function eraseTexts(traces: Traces, reviews: ReviewErasure, context: HandlerContext): Promise<number> {
  const images = await eraseImages(traces, context);
  if (reviews === "delete") await deleteReviews(traces, context);
  else await anonymizeReviews(traces, context);
  await deleteQuestions(traces, context);
  return images;
}

async function eraseImages({ person: { accountId }, reviews }: Traces, context: HandlerContext): Promise<number> {
  if (reviews.length === 0) return 0;
  const found = await selectAccountRows("review_images", accountId, context.transaction)
    .select("id")
    .where("review_row", "in", reviews)
    .execute();
  const ids = found.map(({ id }) => id);
  await deleteRows("review_images", "id", ids, { accountId, ...context });
  await removePublicIds("image", ids, accountId, context);
  return ids.length;
}

/** The person who made a decision can be the customer. */
const eraseActor = ({ customer }: Traces) =>
  sql<string>`case when by_name in (${sql.join(["", ...customer.names])}) then ${erasedName} else by_name end`;

async function anonymizeReviews(traces: Traces, context: HandlerContext): Promise<void> {
  const { person, reviews } = traces;
  const { accountId } = person;
  if (reviews.length === 0) return;
  const { transaction, nowMs } = context;
  await updateAccountRows("reviews", accountId, transaction)
    .set({ title: "", content: "", user_reference: null, domain: null, comment: null, comment_at: null })
    .set({ images: 0, updated_at: nowMs })
    .where("id", "in", reviews)
    .execute();
  await updateAccountRows("review_events", accountId, transaction)
    .set({ reason: null, previous: null, by_name: eraseActor(traces) })
    .where("review_row", "in", reviews)
    .execute();
}

async function deleteReviews({ person: { accountId }, reviews }: Traces, context: HandlerContext): Promise<void> {
  if (reviews.length === 0) return;
  const { transaction } = context;
  const counted = await selectAccountRows("reviews", accountId, transaction)
    .select(["product_row as productRow", "score"])
    .where("id", "in", reviews)
    .where("published", "=", 1)
    .execute();
  const hidden = counted.map(({ productRow, score }) => ({ productRow, score, by: -1 as const }));
  await countReviews(hidden, accountId, context);
  const scope = { accountId, transaction };
  await deleteRows("review_events", "review_row", reviews, scope);
  await deleteRows("review_words", "review_row", reviews, scope);
  await deleteVotes("review", reviews, scope);
  await deleteRows("reviews", "id", reviews, scope);
  await removePublicIds("review", reviews, accountId, context);
}

async function deleteVotes(
  target: "review" | "answer",
  ids: readonly number[],
  { accountId, transaction }: { readonly accountId: number; readonly transaction: HandlerContext["transaction"] },
): Promise<void> {
  if (ids.length === 0) return;
  await deleteAccountRows("votes", accountId, transaction)
    .where("target", "=", target)
    .where("target_row", "in", ids)
    .execute();
}

/** Deletes the customer's answers, and the customer's questions with all answers, which mean nothing without them. */
async function deleteQuestions(traces: Traces, context: HandlerContext): Promise<void> {
  const { person, questions, ownAnswers, answersToQuestions } = traces;
  const { accountId } = person;
  const { transaction } = context;
  const answers = [...ownAnswers, ...answersToQuestions];
  await updateAccountRows("question_events", accountId, transaction)
    .set({ reason: null, previous: null, by_name: eraseActor(traces) })
    .where(isOwnEvent(traces))
    .execute();
  if (questions.length + answers.length === 0) return;
  const { rows: affected } = await sql<{ id: number; product_row: number }>`
    select id, product_row from questions where account_id = ${accountId} and (
      id in (${sql.join([0, ...questions])}) or id in (select question_row from answers
        where account_id = ${accountId} and id in (${sql.join([0, ...answers])})))`.execute(transaction);
  const scope = { accountId, transaction };
  await deleteVotes("answer", answers, scope);
  await deleteRows("answers", "id", answers, scope);
  await deleteRows("questions", "id", questions, scope);
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
