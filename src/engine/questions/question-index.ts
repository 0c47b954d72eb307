import { sql } from "kysely";
import type { QuestionState } from "../../contract/index.ts";
import { indexTexts } from "../../storage/search-index.ts";
import { deleteAccountRows, sameAccount, selectAccountRows } from "../kernel/account-rows.ts";
import { listPositionTags } from "../kernel/lists/search-tags.ts";
import type { HandlerContext } from "../kernel/handler.ts";

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
    await deleteAccountRows("question_words", accountId, transaction).where("question_row", "in", deleted).execute();
  }
  await sql`update questions set answered = case when exists (select 1 from answers
      where answers.account_id = ${accountId} and answers.question_row = questions.id and answers.published = 1)
      then 1 else 0 end
    where account_id = ${accountId} and id in (${sql.join(ids)})`.execute(transaction);
}
