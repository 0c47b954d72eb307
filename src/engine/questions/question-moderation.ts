import type * as z from "zod";
import { type contract, type QuestionState, recordNotFound, ServiceError } from "../../contract/index.ts";
import { readStoreName } from "../accounts/account-profile.ts";
import { deleteAccountRows, deleteRows, sameAccount, selectAccountRows, updateRows } from "../kernel/account-rows.ts";
import { accountOf, type HandlerContext, type Handlers } from "../kernel/handler.ts";
import { removePublicIds } from "../kernel/public-ids.ts";
import { iso } from "../kernel/times.ts";
import { announceQuestion, withdrawAnswerEmails, withdrawQuestionEmails } from "./question-messages.ts";
import { queueShopperRequests } from "./shopper-requests.ts";
import { listQuestionHistory, recordQuestionEvent, removePreviousTexts } from "./question-history.ts";
import { answerColumns, toAnswer } from "./question-list.ts";
import { addToQuestionTotals } from "./question-index.ts";

type Questions = Handlers<typeof contract.questions>;
type Answers = Handlers<typeof contract.answers>;

export const questionModerationHandlers: Pick<Questions, "setPublished" | "delete" | "history"> = {
  /**
   * Publishes or hides a question with its answers.
   * @throws ServiceError `recordNotFound`
   * Assumed: publishing a question that its author did not confirm is the store's decision, and causes no emails.
   */
  setPublished: async ({ question_id, published, by, reason }, context) => {
    const question = await findQuestion(question_id, context);
    const state = published ? "public" : "hidden";
    if (question.state !== state) {
      await countQuestion(question, -1, context);
      await setState(question_id, state, context);
      await countQuestion({ ...question, state }, 1, context);
      if (!published) await withdrawQuestionEmails(question, context);
      const event = published ? "published" : "unpublished";
      const { account_id: accountId, user_row: authorRow } = question;
      await recordQuestionEvent({ questionId: question_id, authorRow, event, by, reason }, accountId, context);
      if (published && question.state === "pending") {
        await announceQuestion({ id: question_id, accountId }, context);
        if (question.confirmed_at !== null) await queueShopperRequests({ id: question_id, accountId }, context);
      }
    }
    const { id, sku, content, created_at } = question;
    return { question: { id, sku, content, state, created_at: iso(created_at) } };
  },

  delete: async (input, context) => {
    await deleteQuestion(input, context);
    return {};
  },

  history: ({ question_id }, context) => listQuestionHistory(question_id, context),
};

/** Deletes a question with its answers. @throws ServiceError `recordNotFound` */
export async function deleteQuestion(
  { question_id, by, reason }: z.output<typeof contract.questions.delete.input>,
  context: HandlerContext,
): Promise<void> {
  const question = await findQuestion(question_id, context);
  const { account_id: accountId, user_row: authorRow } = question;
  await withdrawQuestionEmails(question, context);
  await countQuestion(question, -1, context);
  const { transaction } = context;
  const answers = await deleteAccountRows("answers", accountId, transaction)
    .where("question_row", "=", question_id)
    .returning("id")
    .execute();
  const ids = answers.map(({ id }) => id);
  await removePublicIds("answer", ids, accountId, context);
  await deleteRows("questions", { account_id: accountId, id: question_id }, { transaction });
  await removePreviousTexts({ questionId: question_id }, accountId, context);
  await recordQuestionEvent({ questionId: question_id, authorRow, event: "deleted", by, reason }, accountId, context);
}

export const answerModerationHandlers: Pick<Answers, "edit" | "delete"> = {
  /**
   * Changes the text of an answer of the store.
   * @throws ServiceError `recordNotFound`, `invalidParams` if a shopper wrote the answer
   * Assumed: nobody may put words into a shopper's mouth, so other answers can only be deleted; nobody is notified.
   */
  edit: async ({ answer_id, content, by, reason }, context) => {
    const found = await findAnswer(answer_id, context);
    const { account_id: accountId, question_row: questionId, content: previous } = found;
    if (found.by_store === 0) {
      const message = `answer ${answer_id} was written by a shopper; only answers of the store can be edited`;
      throw new ServiceError("invalidParams", message, { hint: "To remove the answer, delete it." });
    }
    if (previous !== content) {
      await updateRows("answers", { content }, { account_id: accountId, id: answer_id }, context);
      const event = { questionId, answerId: answer_id, authorRow: found.id, event: "answer_edited", by, reason };
      await recordQuestionEvent({ ...event, previous }, accountId, context);
    }
    return { answer: toAnswer({ ...found, content }, await readStoreName(context, accountId)) };
  },

  /** @throws ServiceError `recordNotFound` */
  delete: async ({ answer_id, by, reason }, context) => {
    const answer = await findAnswer(answer_id, context);
    const { account_id: accountId, question_row: questionId } = answer;
    await withdrawAnswerEmails({ accountId, questionId, answerId: answer_id }, context);
    await deleteRows("answers", { account_id: accountId, id: answer_id }, context);
    await removePublicIds("answer", [answer_id], accountId, context);
    const isCounted = answer.state === "public" && answer.published === 1;
    const counts = { questions: 0, answers: isCounted ? -1 : 0 };
    await addToQuestionTotals({ accountId, productRow: answer.product_row }, counts, context);
    await removePreviousTexts({ questionId, answerId: answer_id }, accountId, context);
    const event = { questionId, answerId: answer_id, authorRow: answer.id, event: "answer_deleted", by, reason };
    await recordQuestionEvent(event, accountId, context);
    return {};
  },
};

async function findQuestion(id: number, context: HandlerContext) {
  const found = await selectAccountRows("questions", accountOf(context).id, context.transaction)
    .innerJoin("products", sameAccount("products.id", "questions.product_row"))
    .selectAll("questions")
    .select("products.product_id as sku")
    .where("questions.id", "=", id)
    .executeTakeFirst();
  if (!found) throw recordNotFound("Question", "id", id);
  return found;
}

type Question = Awaited<ReturnType<typeof findQuestion>>;

/** Adds a question and its public answers to the totals of its product, or subtracts them, if it is public. */
async function countQuestion(
  { id, account_id: accountId, product_row: productRow, state }: Question,
  sign: 1 | -1,
  context: HandlerContext,
): Promise<void> {
  if (state !== "public") return;
  const { answers } = await selectAccountRows("answers", accountId, context.transaction)
    .select(({ fn }) => fn.countAll<number>().as("answers"))
    .where("question_row", "=", id)
    .where("published", "=", 1)
    .executeTakeFirstOrThrow();
  await addToQuestionTotals({ accountId, productRow }, { questions: sign, answers: sign * answers }, context);
}

async function setState(id: number, state: QuestionState, context: HandlerContext): Promise<void> {
  await updateRows("questions", { state }, { id }, context);
}

async function findAnswer(id: number, context: HandlerContext) {
  const found = await selectAccountRows("answers", accountOf(context).id, context.transaction)
    .innerJoin("questions", sameAccount("questions.id", "answers.question_row"))
    .innerJoin("users", sameAccount("users.id", "answers.user_row"))
    .select([...answerColumns, "answers.account_id", "answers.published", "questions.state", "questions.product_row"])
    .where("answers.id", "=", id)
    .executeTakeFirst();
  if (!found) throw recordNotFound("Answer", "id", id);
  return found;
}
