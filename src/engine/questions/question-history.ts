import type * as z from "zod";
import { type contract, recordNotFound } from "../../contract/index.ts";
import { findRow, selectAccountRows, updateAccountRows } from "../kernel/account-rows.ts";
import { accountOf, actorOf, type HandlerContext } from "../kernel/handler.ts";
import { iso } from "../kernel/times.ts";
import { refreshQuestions } from "./question-index.ts";

/** An event in the history of a question. */
interface QuestionEvent {
  readonly questionId: number;
  /** Absent if the event concerns the question. */
  readonly answerId?: number;
  /** The author of the question, or of the answer. */
  readonly authorRow: number;
  readonly event: string;
  /** Default: the store. */
  readonly by?: string | undefined;
  readonly reason?: string | undefined;
  /** The text before it was edited. */
  readonly previous?: string;
}

/** Appends an event to the history of a question that has changed, and updates what lists know about it. */
export async function recordQuestionEvent(
  { questionId, answerId, authorRow, event, by, reason, previous }: QuestionEvent,
  accountId: number,
  context: Pick<HandlerContext, "transaction" | "dialect" | "nowMs" | "by">,
): Promise<void> {
  const { transaction, nowMs } = context;
  await refreshQuestions([questionId], accountId, context);
  await transaction
    .insertInto("question_events")
    .values({
      account_id: accountId,
      question_row: questionId,
      answer_row: answerId ?? null,
      user_row: authorRow,
      event,
      by_name: actorOf(context, by),
      reason: reason ?? null,
      previous: previous ?? null,
      created_at: nowMs,
    })
    .execute();
}

/** Removes the texts of a deleted question with its answers, or of one answer, from the history. */
export async function removePreviousTexts(
  { questionId, answerId }: Pick<QuestionEvent, "questionId" | "answerId">,
  accountId: number,
  { transaction }: Pick<HandlerContext, "transaction">,
): Promise<void> {
  const events = updateAccountRows("question_events", accountId, transaction)
    .set({ previous: null })
    .where("question_row", "=", questionId)
    .where("previous", "is not", null);
  await (answerId === undefined ? events : events.where("answer_row", "=", answerId)).execute();
}

type History = z.output<typeof contract.questions.history.output>;

/**
 * Lists the history of a question, which remains when the question is deleted.
 * @throws ServiceError `recordNotFound`
 */
export async function listQuestionHistory(questionId: number, context: HandlerContext): Promise<History> {
  const accountId = accountOf(context).id;
  const found = await selectAccountRows("question_events", accountId, context.transaction)
    .select(["id", "question_row as question_id", "answer_row as answer_id", "event", "by_name as by", "reason"])
    .select(["previous as previous_content", "created_at"])
    .where("question_row", "=", questionId)
    .orderBy("id")
    .execute();
  if (found.length === 0) await requireQuestion(questionId, accountId, context);
  return { events: found.map((row) => Object.assign(row, { created_at: iso(row.created_at) })) };
}

/** Questions that were asked before histories have no events. */
async function requireQuestion(id: number, accountId: number, { transaction }: HandlerContext): Promise<void> {
  const found = await findRow("questions", ["id"], { account_id: accountId, id }, { transaction });
  if (!found) throw recordNotFound("Question", "id", id);
}
