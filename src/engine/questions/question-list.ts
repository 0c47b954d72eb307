import { type Answer, type Question, questionPage } from "../../contract/index.ts";
import { readStoreName } from "../accounts/account-profile.ts";
import { sameAccount, selectAccountRows } from "../kernel/account-rows.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { ownerNameOf } from "../accounts/store-owner.ts";
import { type Person, personColumns, toSummary } from "../accounts/shoppers.ts";
import { iso } from "../kernel/times.ts";

interface Page {
  readonly count?: number | undefined;
  readonly page?: number | undefined;
}

/**
 * Lists a page of a product's public questions with all their public answers.
 * Source: spec "Question and answer". Assumed: questions are sorted newest first; `page` starts at 1; the store's answers
 * come first, then those with more upvotes, then older ones.
 * @returns steps that read them, independent of one another, and the result when all are done
 */
export function listQuestions(productId: string, page: Page, context: HandlerContext) {
  let questions: Awaited<ReturnType<ReturnType<typeof selectQuestions>["execute"]>> = [];
  let answers: Awaited<ReturnType<ReturnType<typeof selectAnswers>["execute"]>> = [];
  let storeName: string | null = null;
  const answersOf = (questionRow: number) =>
    answers.filter(({ question_row }) => question_row === questionRow).map((row) => toAnswer(row, storeName));
  return {
    steps: [
      async () => void (questions = await selectQuestions(productId, page, context).execute()),
      async () => void (answers = await selectAnswers(productId, page, context).execute()),
      async () => void (storeName = await readStoreName(context, accountOf(context).id)),
    ],
    toQuestions: () =>
      questions.map(({ question_row, content, user_type, asked_at, ...asker }): Question => ({
        id: question_row,
        content,
        asker: toSummary(asker),
        user_type,
        created_at: iso(asked_at),
        sorted_public_answers: answersOf(question_row),
      })),
  };
}

/** Selects the IDs of the page using only an index. */
function selectPage(productId: string, { count = questionPage.default, page = 1 }: Page, context: HandlerContext) {
  const { id: accountId } = accountOf(context);
  const size = Math.min(count, questionPage.max);
  return selectAccountRows("questions", accountId, context.transaction)
    .select("questions.id")
    .where("product_row", "=", (eb) =>
      eb.selectFrom("products").select("id").where("account_id", "=", accountId).where("product_id", "=", productId),
    )
    .where("state", "=", "public")
    .orderBy("questions.id", "desc")
    .limit(size)
    .offset(Math.min((Math.max(page, 1) - 1) * size, Number.MAX_SAFE_INTEGER));
}

function selectQuestions(productId: string, page: Page, context: HandlerContext) {
  return context.transaction
    .selectFrom(selectPage(productId, page, context).as("paged"))
    .innerJoin("questions", (join) =>
      join.on("questions.account_id", "=", accountOf(context).id).onRef("questions.id", "=", "paged.id"),
    )
    .innerJoin("users", sameAccount("users.id", "questions.user_row"))
    .select([
      "questions.id as question_row",
      "questions.content",
      "questions.user_type",
      "questions.created_at as asked_at",
      ...personColumns,
    ])
    .orderBy("paged.id", "desc");
}

function selectAnswers(productId: string, page: Page, context: HandlerContext) {
  return context.transaction
    .selectFrom(selectPage(productId, page, context).as("paged"))
    .crossJoin("answers")
    .where("answers.account_id", "=", accountOf(context).id)
    .whereRef("answers.question_row", "=", "paged.id")
    .where("answers.published", "=", 1)
    .innerJoin("users", sameAccount("users.id", "answers.user_row"))
    .select([
      "answers.question_row",
      "answers.id as answer_row",
      "answers.content",
      "answers.by_store",
      "answers.votes_up",
      "answers.votes_down",
      "answers.created_at as answered_at",
      ...personColumns,
    ])
    .orderBy("answers.by_store", "desc")
    .orderBy("answers.votes_up", "desc")
    .orderBy("answers.id");
}

interface AnswerRow {
  readonly answer_row: number;
  readonly content: string;
  readonly by_store: number;
  readonly votes_up: number;
  readonly votes_down: number;
  readonly answered_at: number;
}

/**
 * Converts an answer with the columns of its author.
 * Assumed: answers of the store appear under its current name, or else its owner's.
 */
export function toAnswer(row: AnswerRow & Person, storeName: string | null): Answer {
  return {
    id: row.answer_row,
    content: row.content,
    store_owner_comment: row.by_store === 1,
    answerer: toSummary(row.by_store === 1 ? { ...row, display_name: storeName ?? ownerNameOf(row) } : row),
    votes_up: row.votes_up,
    votes_down: row.votes_down,
    created_at: iso(row.answered_at),
  };
}
