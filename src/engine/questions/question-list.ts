import { type Answer, type Question, questionPage } from "../../contract/index.ts";
import { batchRows } from "../../storage/batch.ts";
import { readStoreName } from "../accounts/account-profile.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { ownerNameOf } from "../accounts/store-owner.ts";
import { type Person, personColumns, toSummary } from "../accounts/shoppers.ts";
import { iso } from "../kernel/times.ts";

interface Page {
  readonly count?: number | undefined;
  readonly page?: number | undefined;
}

/**
 * Lists a page of a product's public questions with all their public answers, in two queries.
 * Assumed: questions are sorted newest first; `page` starts at 1.
 */
export async function listQuestions(productRow: number, page: Page, context: HandlerContext): Promise<Question[]> {
  const found = await selectQuestions(productRow, page, context).execute();
  const answers = await readAnswers(
    found.map(({ question_row }) => question_row),
    context,
  );
  return found.map(({ question_row, content, user_type, asked_at, ...asker }) => ({
    id: question_row,
    content,
    asker: toSummary(asker),
    user_type,
    created_at: iso(asked_at),
    sorted_public_answers: answers.get(question_row) ?? [],
  }));
}

/** Selects the IDs of the page using only an index, then joins its rows. */
function selectQuestions(
  productRow: number,
  { count = questionPage.default, page = 1 }: Page,
  { transaction }: Pick<HandlerContext, "transaction">,
) {
  const size = Math.min(count, questionPage.max);
  const paged = transaction
    .selectFrom("questions")
    .select("questions.id")
    .where("product_row", "=", productRow)
    .where("state", "=", "public")
    .orderBy("questions.id", "desc")
    .limit(size)
    .offset(Math.min((Math.max(page, 1) - 1) * size, Number.MAX_SAFE_INTEGER));
  return transaction
    .selectFrom(paged.as("paged"))
    .innerJoin("questions", "questions.id", "paged.id")
    .innerJoin("users", "users.id", "questions.user_row")
    .select([
      "questions.id as question_row",
      "questions.content",
      "questions.user_type",
      "questions.created_at as asked_at",
      ...personColumns,
    ])
    .orderBy("paged.id", "desc");
}

/** Source: spec "Question and answer". Assumed: the store's answers come first, then those with more upvotes, then older ones. */
async function readAnswers(
  questionRows: readonly number[],
  context: HandlerContext,
): Promise<ReadonlyMap<number, Answer[]>> {
  const answers = new Map<number, Answer[]>();
  if (questionRows.length === 0) return answers;
  const storeName = await readStoreName(context, accountOf(context).id);
  for (const { question_row, ...row } of await selectAnswers(questionRows, context).execute()) {
    const listed = answers.get(question_row);
    if (listed) listed.push(toAnswer(row, storeName));
    else answers.set(question_row, [toAnswer(row, storeName)]);
  }
  return answers;
}

function selectAnswers(questionRows: readonly number[], { transaction, dialect }: HandlerContext) {
  const rows = questionRows.map((id) => [id]);
  return transaction
    .selectFrom(batchRows<{ question_row: number }>({ question_row: "integer" }, rows, dialect))
    .crossJoin("answers")
    .whereRef("answers.question_row", "=", "batch.question_row")
    .where("answers.published", "=", 1)
    .innerJoin("users", "users.id", "answers.user_row")
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
