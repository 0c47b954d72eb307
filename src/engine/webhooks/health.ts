import { dayMs } from "../../contract/time.ts";
import { sameAccount, selectAccountRows } from "../kernel/account-rows.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { iso } from "../kernel/times.ts";

/** How deliveries to a webhook have gone. */
interface WebhookHealth {
  readonly last_success_at: string | null;
  /** Failed attempts in the last 24 hours. */
  readonly failures_24h: number;
  readonly next_attempt_at: string | null;
}

/** Reads the health of all webhooks of the account. */
export async function readWebhookHealth(context: HandlerContext): Promise<(webhookId: number) => WebhookHealth> {
  const { transaction, nowMs } = context;
  const { id: accountId } = accountOf(context);
  // One index lookup per webhook for each of the times.
  const webhooks = await selectAccountRows("webhooks", accountId, transaction)
    .select((eb) => [
      "webhooks.id",
      eb
        .selectFrom("webhook_deliveries")
        .select(({ fn }) => fn.max<number | null>("delivered_at").as("delivered_at"))
        .where("webhook_deliveries.account_id", "=", accountId)
        .whereRef("webhook_deliveries.webhook_row", "=", "webhooks.id")
        .where("delivered_at", "is not", null)
        .as("delivered_at"),
      eb
        .selectFrom("webhook_deliveries")
        .select(({ fn }) => fn.min<number | null>("due_at").as("due_at"))
        .where("webhook_deliveries.account_id", "=", accountId)
        .where("webhook_deliveries.state", "=", "queued")
        .whereRef("webhook_deliveries.webhook_row", "=", "webhooks.id")
        .as("due_at"),
    ])
    .execute();
  const failed = await selectAccountRows("webhook_attempts", accountId, transaction)
    .innerJoin("webhook_deliveries", sameAccount("webhook_deliveries.id", "webhook_attempts.delivery_row"))
    .select(["webhook_deliveries.webhook_row", ({ fn }) => fn.countAll<number | bigint>().as("count")])
    .where("webhook_deliveries.account_id", "=", accountId)
    .where("webhook_attempts.problem", "is not", null)
    .where("webhook_attempts.started_at", ">", nowMs - dayMs)
    .groupBy("webhook_deliveries.webhook_row")
    .execute();
  return (webhookId) => {
    const { delivered_at = null, due_at = null } = webhooks.find(({ id }) => id === webhookId) ?? {};
    return {
      last_success_at: delivered_at === null ? null : iso(delivered_at),
      failures_24h: Number(failed.find(({ webhook_row }) => webhook_row === webhookId)?.count ?? 0),
      next_attempt_at: due_at === null ? null : iso(due_at),
    };
  };
}
