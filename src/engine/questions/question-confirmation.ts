import { actorNames } from "../../contract/index.ts";
import { sameAccount, selectAccountRows, updateAccountRows } from "../kernel/account-rows.ts";
import type { HandlerContext } from "../kernel/handler.ts";
import { recordClick } from "../kernel/email-log.ts";
import { queueShopperRequests } from "./shopper-requests.ts";
import { announceQuestion, queueAnswerRequest } from "./question-messages.ts";
import { findHeldProduct } from "../products/product-view.ts";
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
    .select(["questions.state", "questions.content", "questions.product_row", "questions.user_row"])
    .select(["questions.confirmed_at", "products.name", "products.url", "products.named_by_visitor"])
    .where("questions.id", "=", id)
    .executeTakeFirst();
  if (!found) return undefined;
  return {
    state: found.state === "pending" && found.confirmed_at === null ? "ready" : "done",
    about: found.name,
    detail: found.content,
    follow: async () => {
      const { product_row: productRow, user_row: userRow } = found;
      const heldBecause = await findHeldProduct(found, accountId, context);
      await confirmQuestion({ id, accountId, productRow, userRow, heldBecause }, context);
      await recordClick({ accountId, mailId, category: "question_confirmation" }, context);
    },
  };
}

interface QuestionToConfirm {
  readonly id: number;
  readonly accountId: number;
  readonly productRow: number;
  readonly userRow: number;
  /** Why the question waits for the store, if it does. */
  readonly heldBecause: string | undefined;
}

/**
 * Publishes a question, unless it waits for the store.
 * Source: spec "States and transitions". Assumed: the author of a confirmed question has the type "User".
 */
async function confirmQuestion(
  { id, accountId, productRow, userRow, heldBecause }: QuestionToConfirm,
  context: HandlerContext,
): Promise<void> {
  const user_row = await verifyAuthor(userRow, accountId, context);
  await updateAccountRows("questions", accountId, context.transaction)
    .set({
      state: heldBecause === undefined ? "public" : "pending",
      user_type: "User",
      user_row,
      confirmed_at: context.nowMs,
    })
    .where("id", "=", id)
    .execute();
  const event = { questionId: id, authorRow: user_row };
  await recordQuestionEvent({ ...event, event: "confirmed", by: actorNames.user }, accountId, context);
  if (heldBecause === undefined) {
    await addToQuestionTotals({ accountId, productRow }, { questions: 1, answers: 0 }, context);
    await announceQuestion({ id, accountId }, context);
    await queueShopperRequests({ id, accountId }, context);
  } else {
    await recordQuestionEvent({ ...event, event: "held", by: "SERVICE", reason: heldBecause }, accountId, context);
  }
  await queueAnswerRequest({ id, accountId }, heldBecause !== undefined, context);
}
