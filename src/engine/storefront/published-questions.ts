import type * as z from "zod";
import type { contract, Question, StorefrontQuestion, StorefrontQuestions } from "../../contract/index.ts";
import { hasFeature } from "../accounts/account-settings.ts";
import type { HandlerContext } from "../kernel/handler.ts";
import { listQuestions } from "../questions/question-list.ts";
import { findQuestionTotals } from "../questions/question-index.ts";
import { toPaging } from "./review-selection.ts";

/**
 * Lists a page of a product's public questions with their answers.
 * Assumed: without the feature, no question is public, so that pages of the shop show none.
 */
export async function listPublicQuestions(
  { product_id, ...query }: z.output<typeof contract.storefront.questions.input>,
  context: HandlerContext,
): Promise<StorefrontQuestions> {
  const paging = toPaging(query);
  const { steps, toQuestions } = listQuestions(product_id, { count: paging.per_page, page: paging.page }, context);
  const [isOn, totals] = await context.dialect.runAll([
    () => hasFeature(context, "questions_and_answers"),
    () => findQuestionTotals(product_id, context),
    ...steps,
  ]);
  if (!isOn || !totals) return { pagination: { ...paging, total: 0 }, total_answers: 0, questions: [] };
  return {
    pagination: { ...paging, total: totals.total_questions },
    total_answers: totals.total_answers,
    questions: toQuestions().map(toStorefrontQuestion),
  };
}

function toStorefrontQuestion({ id, content, created_at, asker, sorted_public_answers }: Question): StorefrontQuestion {
  return {
    id,
    content,
    created_at,
    display_name: asker.display_name,
    answers: sorted_public_answers.map((answer) => ({
      id: answer.id,
      content: answer.content,
      created_at: answer.created_at,
      display_name: answer.answerer.display_name,
      is_shop: answer.store_owner_comment,
      votes_up: answer.votes_up,
      votes_down: answer.votes_down,
    })),
  };
}
