import { sql } from "kysely";
import type { QuestionState } from "../../contract/index.ts";
import { indexTexts } from "../../storage/search-index.ts";
import { deleteRows, sameAccount, selectAccountRows } from "../kernel/account-rows.ts";
import { listPositionTags } from "../kernel/lists/search-tags.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { unknownProduct } from "../products/product-lookup.ts";

type Context = Pick<HandlerContext, "transaction" | "dialect">;

/** The tags that stand for values of filters. */
export const questionTags = {
  state: (state: QuestionState) => `t${state}`,
  unanswered: "u",
} as const;

/**
 * Updates what is stored of questions for lists: their words, and whether they have a public answer. To be called whenever a
 * question, its author, or its answers have changed, or a question was deleted.
 */
export async function refreshQuestions(
  ids: readonly number[],
  accountId: number,
  { transaction, dialect }: Context,
): Promise<void> {
  if (ids.length === 0) return;
  const questions = await selectAccountRows("questions", accountId, transaction)
    .innerJoin("users", sameAccount("users.id", "questions.user_row"))
    .select(["questions.id", "questions.content", "questions.state", "questions.created_at", "users.display_name"])
    .where("questions.id", "in", ids)
    .execute();
  const answers = await selectAccountRows("answers", accountId, transaction)
    .select(["question_row", "content", "published"])
    .where("question_row", "in", ids)
    .orderBy("id")
    .execute();
  const records = questions.map(({ id, content, state, created_at, display_name }) => {
    const own = answers.filter(({ question_row }) => question_row === id);
    const isAnswered = own.some(({ published }) => published === 1);
    const tags = [
      ...listPositionTags({ id, createdMs: created_at }),
      questionTags.state(state as QuestionState),
      ...(isAnswered ? [] : [questionTags.unanswered]),
    ];
    return { id, texts: [content, display_name, ...own.map((answer) => answer.content)], tags };
  });
  await indexTexts("question_words", records, accountId, { db: transaction, dialect });
  const deleted = ids.filter((id) => !questions.some((question) => question.id === id));
  if (deleted.length > 0) {
    await deleteRows("question_words", { account_id: accountId, question_row: deleted }, { transaction });
  }
  await sql`update questions set answered = case when exists (select 1 from answers
      where answers.account_id = ${accountId} and answers.question_row = questions.id and answers.published = 1)
      then 1 else 0 end
    where account_id = ${accountId} and id in (${sql.join(ids)})`.execute(transaction);
}

/**
 * Reads the number of public questions of a product, and of public answers to them.
 * @throws ServiceError `recordNotFound`
 */
export async function readQuestionTotals(productId: string, context: HandlerContext): Promise<QuestionTotals> {
  const found = await findQuestionTotals(productId, context);
  if (!found) throw unknownProduct(productId);
  return found;
}

interface QuestionTotals {
  readonly total_questions: number;
  readonly total_answers: number;
}

/** Like `readQuestionTotals`; returns undefined for an unknown product. */
export async function findQuestionTotals(
  productId: string,
  context: HandlerContext,
): Promise<QuestionTotals | undefined> {
  const { id: accountId } = accountOf(context);
  const found = await selectAccountRows("products", accountId, context.transaction)
    .leftJoin("question_totals", sameAccount("question_totals.product_row", "products.id"))
    .select(["questions", "answers"])
    .where("products.product_id", "=", productId)
    .executeTakeFirst();
  return found && { total_questions: found.questions ?? 0, total_answers: found.answers ?? 0 };
}

/** Adds to the number of public questions of a product, and of public answers to them. */
export async function addToQuestionTotals(
  { accountId, productRow }: { readonly accountId: number; readonly productRow: number },
  { questions, answers }: { readonly questions: number; readonly answers: number },
  { transaction }: Pick<HandlerContext, "transaction">,
): Promise<void> {
  if (questions === 0 && answers === 0) return;
  await transaction
    .insertInto("question_totals")
    .values({ account_id: accountId, product_row: productRow, questions, answers })
    .onConflict((conflict) =>
      conflict.columns(["account_id", "product_row"]).doUpdateSet((eb) => ({
        questions: eb("question_totals.questions", "+", questions),
        answers: eb("question_totals.answers", "+", answers),
      })),
    )
    .execute();
}
