import type { HandlerContext } from "../kernel/handler.ts";

/** Ends a subscription: what waits for it is sent no more, and keeps the reason; what is under way is not tried again. */
export async function endSubscription(
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
