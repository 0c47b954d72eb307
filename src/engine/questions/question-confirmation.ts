import { actorNames } from "../../contract/index.ts";
import { sameAccount, selectAccountRows, updateAccountRows } from "../kernel/account-rows.ts";
import type { HandlerContext } from "../kernel/handler.ts";
import { recordClick } from "../kernel/email-log.ts";
import { announceQuestion, queueAnswerRequest } from "./question-messages.ts";
import { recordQuestionEvent } from "./question-history.ts";
import { addToQuestionTotals } from "./question-index.ts";
import { verifyAuthor } from "../accounts/shoppers.ts";
import type { Claim, LinkAction } from "../kernel/signed-link.ts";

/** Finds the question that a confirmation link concerns. */
export async function findQuestionToConfirm(
  { id, accountId, mailId }: Claim,
  context: HandlerContext,
): Promise<LinkAction | undefined> {
  const found = await selectAccountRows("questions", accountId, context.transaction)
    .innerJoin("products", sameAccount("products.id", "questions.product_row"))
    .select(["questions.state", "questions.content", "questions.product_row", "questions.user_row", "products.name"])
    .where("questions.id", "=", id)
    .executeTakeFirst();
  if (!found) return undefined;
  return {
    state: found.state === "pending" ? "ready" : "done",
    about: found.name,
    detail: found.content,
    follow: async () => {
      const { product_row: productRow, user_row: userRow } = found;
      await publishQuestion({ id, accountId, productRow, userRow }, context);
      await recordClick({ accountId, mailId, category: "question_confirmation" }, context);
    },
  };
}

interface QuestionToPublish {
  readonly id: number;
  readonly accountId: number;
  readonly productRow: number;
  readonly userRow: number;
}

/** Source: spec "States and transitions". Assumed: the author of a confirmed question has the type "User". */
async function publishQuestion(
  { id, accountId, productRow, userRow }: QuestionToPublish,
  context: HandlerContext,
): Promise<void> {
  const user_row = await verifyAuthor(userRow, accountId, context);
  await updateAccountRows("questions", accountId, context.transaction)
    .set({ state: "public", user_type: "User", user_row, confirmed_at: context.nowMs })
    .where("id", "=", id)
    .execute();
  await addToQuestionTotals({ accountId, productRow }, { questions: 1, answers: 0 }, context);
  const event = { questionId: id, authorRow: user_row, event: "confirmed", by: actorNames.user };
  await recordQuestionEvent(event, accountId, context);
  await announceQuestion({ id, accountId }, context);
  await queueAnswerRequest({ id, accountId }, context);
}
