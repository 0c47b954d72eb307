import { readAppKey } from "../accounts/account-profile.ts";
import { sameAccount, selectAccountRows } from "../kernel/account-rows.ts";
import type { HandlerContext } from "../kernel/handler.ts";
import { queueWebhookEvents } from "../kernel/outbox.ts";
import { iso } from "../kernel/times.ts";

/** Queues the webhook event for a question that is now public, or for an answer to it. */
export async function announceQuestion(
  { id, accountId }: { readonly id: number; readonly accountId: number },
  context: HandlerContext,
  answer?: { readonly id: number; readonly content: string; readonly by_store: boolean },
): Promise<void> {
  const readData = async () => {
    const found = await selectAccountRows("questions", accountId, context.transaction)
      .innerJoin("products", sameAccount("products.id", "questions.product_row"))
      .innerJoin("users", sameAccount("users.id", "questions.user_row"))
      .select(["questions.content", "questions.created_at", "products.product_id", "products.name"])
      .select(["users.display_name", "users.email"])
      .where("questions.id", "=", id)
      .executeTakeFirstOrThrow();
    return [
      {
        id,
        content: found.content,
        product_id: found.product_id,
        product_title: found.name,
        display_name: found.display_name,
        email: found.email,
        created_at: iso(found.created_at),
        app_key: await readAppKey(context, accountId),
        ...(answer && { answer: { ...answer, created_at: iso(context.nowMs) } }),
      },
    ];
  };
  await queueWebhookEvents(answer ? "question_answered" : "question_asked", readData, accountId, context);
}
