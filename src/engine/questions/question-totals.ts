import type { HandlerContext } from "../kernel/handler.ts";

/** Reads the number of public questions of a product, and of public answers to them. */
export async function readQuestionTotals(
  productRow: number,
  { transaction }: Pick<HandlerContext, "transaction">,
): Promise<{ total_questions: number; total_answers: number }> {
  const found = await transaction
    .selectFrom("question_totals")
    .select(["questions as total_questions", "answers as total_answers"])
    .where("product_row", "=", productRow)
    .executeTakeFirst();
  return found ?? { total_questions: 0, total_answers: 0 };
}

/** Counts a newly public question or answer. */
export async function addToQuestionTotals(
  { accountId, productRow }: { readonly accountId: number; readonly productRow: number },
  added: "questions" | "answers",
  { transaction }: Pick<HandlerContext, "transaction">,
): Promise<void> {
  await transaction
    .insertInto("question_totals")
    .values({ account_id: accountId, product_row: productRow, questions: 0, answers: 0, [added]: 1 })
    .onConflict((conflict) =>
      conflict.column("product_row").doUpdateSet((eb) => ({ [added]: eb(`question_totals.${added}`, "+", 1) })),
    )
    .execute();
}
