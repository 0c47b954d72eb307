import type { Kysely } from "kysely";
import type { Tables } from "./tables.ts";

/** How deliveries to a webhook have gone recently. */
export interface WebhookFacts {
  readonly url: string;
  readonly event: string;
  /** Failed attempts in the period. */
  readonly failures: number;
  /** When a delivery last succeeded, in milliseconds since 1970; null if none has. */
  readonly lastSuccessMs: number | null;
}

/** Reads the webhooks of all active accounts. */
export async function readWebhooks(db: Kysely<Tables>, sinceMs: number): Promise<readonly WebhookFacts[]> {
  const rows = await db
    .selectFrom("webhooks")
    .innerJoin("accounts", "accounts.id", "webhooks.account_id")
    .where("accounts.disabled_at", "is", null)
    .select((query) => [
      "webhooks.url",
      "webhooks.event_name as event",
      query
        .selectFrom("webhook_deliveries as delivered")
        .select(({ fn }) => fn.max("delivered.delivered_at").as("at"))
        .whereRef("delivered.account_id", "=", "webhooks.account_id")
        .whereRef("delivered.webhook_row", "=", "webhooks.id")
        .as("last_success"),
      query
        .selectFrom("webhook_attempts as attempts")
        .innerJoin("webhook_deliveries as tried", (join) =>
          join.onRef("tried.account_id", "=", "attempts.account_id").onRef("tried.id", "=", "attempts.delivery_row"),
        )
        .select(({ fn }) => fn.countAll<number | bigint>().as("count"))
        .whereRef("attempts.account_id", "=", "webhooks.account_id")
        .whereRef("tried.account_id", "=", "webhooks.account_id")
        .whereRef("tried.webhook_row", "=", "webhooks.id")
        .where("attempts.problem", "is not", null)
        .where("attempts.started_at", ">", sinceMs)
        .as("failures"),
    ])
    .orderBy("webhooks.account_id")
    .orderBy("webhooks.id")
    .execute();
  return rows.map(({ url, event, failures, last_success }) => ({
    url,
    event,
    failures: Number(failures ?? 0),
    lastSuccessMs: last_success,
  }));
}
