import type { HandlerContext } from "../kernel/handler.ts";

/**
 * Deletes a webhook. Its queued deliveries fail with the reason; a delivery in flight is not retried.
 * @returns whether the webhook existed
 */
export async function deleteWebhook(
  webhookId: number,
  reason: string,
  { transaction }: Pick<HandlerContext, "transaction">,
): Promise<boolean> {
  const { numDeletedRows } = await transaction
    .deleteFrom("webhooks")
    .where("id", "=", webhookId)
    .executeTakeFirstOrThrow();
  await transaction
    .updateTable("webhook_deliveries")
    .set({ state: "failed", reason })
    .where("state", "=", "queued")
    .where("webhook_row", "=", webhookId)
    .execute();
  return numDeletedRows > 0n;
}
