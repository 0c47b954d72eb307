import { createHash } from "node:crypto";
import type * as z from "zod";
import { actorNames, type contract, linkLifetimeMs } from "../../contract/index.ts";
import { requireFeature } from "../accounts/account-settings.ts";
import { findRow, selectAccountRows, updateRows } from "../kernel/account-rows.ts";
import { accountOf, type HandlerContext, type Handlers } from "../kernel/handler.ts";
import { addProducts, findStoreProduct } from "../products/product-lookup.ts";
import { queueEmail } from "../kernel/outbox.ts";
import { recordQuestionEvent } from "./question-history.ts";
import { listQuestions, searchQuestions } from "./question-list.ts";
import { questionModerationHandlers } from "./question-moderation.ts";
import { readQuestionTotals } from "./question-index.ts";
import { addUnverifiedShopper } from "../accounts/shoppers.ts";

type NewQuestion = z.output<typeof contract.questions.sendConfirmation.input>;

export const questionHandlers: Handlers<typeof contract.questions> = {
  ...questionModerationHandlers,

  /**
   * Lists a product's public questions with their answers.
   * @throws ServiceError `featureDisabled`, `recordNotFound`
   * Source: spec "Questions and answers".
   */
  list: async ({ sku, ...page }, context) => {
    const { steps, toQuestions } = listQuestions(sku, page, context);
    const [, totals] = await context.dialect.runAll([
      () => requireFeature(context, "questions_and_answers"),
      () => readQuestionTotals(sku, context),
      ...steps,
    ]);
    return { ...totals, questions: toQuestions() };
  },

  search: searchQuestions,

  /**
   * Counts a product's public questions and their answers.
   * @throws ServiceError `featureDisabled`, `recordNotFound`
   * Source: spec "Questions and answers".
   */
  bottomLine: async ({ sku }, context) => {
    const [, totals] = await context.dialect.runAll([
      () => requireFeature(context, "questions_and_answers"),
      () => readQuestionTotals(sku, context),
    ]);
    return totals;
  },

  sendConfirmation: async (input, context) => {
    await submitQuestion(input, context);
    return {};
  },
};

/**
 * Stores a question until its author confirms it, and queues the confirmation email.
 * @throws ServiceError `featureDisabled`
 * Source: spec "States and transitions": a question is only submitted after confirmation.
 * Assumed: `prevent_duplicate_review` defaults to false. If it is true and the product has an equal question that is
 * public or awaits confirmation, the call succeeds without storing another.
 */
export async function submitQuestion(input: NewQuestion, context: HandlerContext): Promise<void> {
  await requireFeature(context, "questions_and_answers");
  const accountId = accountOf(context).id;
  const products = await addProducts([toProduct(input)], accountOf(context).isStore === true, context);
  const product_row = products.get(input.product_id)?.id ?? 0;
  const content_key = keyOf(input.review_content);
  if (input.prevent_duplicate_review === true && (await isDuplicate(product_row, content_key, context))) return;
  const asker = await addUnverifiedShopper(input, accountId, context);
  const { id } = await context.transaction
    .insertInto("questions")
    .values({
      account_id: accountId,
      product_row,
      user_row: asker.id,
      content: input.review_content,
      content_key,
      user_type: "Anonymous",
      state: "pending",
      created_at: context.nowMs,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  const event = { questionId: id, authorRow: asker.id, event: "created", by: actorNames.user };
  await recordQuestionEvent(event, accountId, context);
  await queueConfirmation({ id, product_row, email: input.email }, context);
}

const emptyToNull = (value: string | null | undefined) => value || null;

function toProduct(input: NewQuestion) {
  return {
    product_id: input.product_id,
    name: input.product_title,
    url: input.product_url,
    image_url: emptyToNull(input.product_image_url),
    description: emptyToNull(input.product_description),
    product_tags: emptyToNull(input.product_tags),
  };
}

/**
 * Replaces the text of a question for its author. Assumed: it stays public if it is, because only the product of a question
 * decides whether it waits for the store.
 */
export async function editQuestion(id: number, content: string, context: HandlerContext): Promise<void> {
  const { id: account_id } = accountOf(context);
  const found = await findRow("questions", ["content", "user_row"], { account_id, id }, context);
  if (!found || found.content === content) return;
  await updateRows("questions", { content, content_key: keyOf(content) }, { account_id, id }, context);
  const event = { questionId: id, authorRow: found.user_row, event: "edited", by: actorNames.user };
  await recordQuestionEvent({ ...event, previous: found.content }, account_id, context);
}

/** Assumed: questions are equal if they differ only in case and white space. */
function keyOf(content: string): string {
  const folded = content.normalize("NFKC").toLowerCase().trim().replace(/\s+/g, " ");
  return createHash("sha256").update(folded).digest("hex");
}

/** Assumed: a question whose confirmation link has expired is not a duplicate. */
async function isDuplicate(product_row: number, content_key: string, context: HandlerContext): Promise<boolean> {
  const found = await selectAccountRows("questions", accountOf(context).id, context.transaction)
    .select("id")
    .where("product_row", "=", product_row)
    .where("content_key", "=", content_key)
    .where((eb) =>
      eb.or([eb("state", "=", "public"), eb("created_at", ">", context.nowMs - linkLifetimeMs.confirm_question)]),
    )
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

interface QuestionToConfirm {
  readonly id: number;
  readonly product_row: number;
  readonly email: string;
}

/** Assumed: anyone can send this email to any address, so it contains no text that the sender chose. */
async function queueConfirmation(
  { id, product_row, email }: QuestionToConfirm,
  context: HandlerContext,
): Promise<void> {
  const accountId = accountOf(context).id;
  const product = await findStoreProduct({ accountId, productRow: product_row }, context);
  await queueEmail(
    {
      accountId,
      category: "question_confirmation",
      email,
      name: "",
      data: (link) => ({
        question_id: id,
        // Templates of earlier versions may contain it.
        content: "",
        product_name: product?.name ?? "a product",
        product_url: product?.url ?? "",
        confirm_url: link("confirm_question", id),
      }),
    },
    context,
  );
}
