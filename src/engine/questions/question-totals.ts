import { sameAccount, selectAccountRows } from "../kernel/account-rows.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { unknownProduct } from "../products/product-lookup.ts";

/**
 * Reads the number of public questions of a product, and of public answers to them.
 * @throws ServiceError `recordNotFound`
 */
export async function readQuestionTotals(
  productId: string,
  context: HandlerContext,
): Promise<{ total_questions: number; total_answers: number }> {
  const { id: accountId } = accountOf(context);
  const found = await selectAccountRows("products", accountId, context.transaction)
    .leftJoin("question_totals", sameAccount("question_totals.product_row", "products.id"))
    .select(["questions", "answers"])
    .where("products.product_id", "=", productId)
    .executeTakeFirst();
  if (!found) throw unknownProduct(productId);
  return { total_questions: found.questions ?? 0, total_answers: found.answers ?? 0 };
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
