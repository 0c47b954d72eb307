import { account, bigint, integer, optional, rowId, text, withDefault, defineTables } from "./columns.ts";

export const webhookTables = defineTables({
  webhooks: {
    columns: {
      id: rowId,
      account_id: account,
      url: text,
      event_name: text,
      secret_sealed: text,
      created_at: bigint,
      /** Deliveries are paused until then, as requested by the receiver. */
      held_until: optional(bigint),
    },
    unique: { webhooks_target: ["account_id", "event_name", "url"] },
  },
  /** The webhook outbox. */
  webhook_deliveries: {
    columns: {
      id: rowId,
      account_id: account,
      webhook_row: bigint,
      event_id: text,
      event_name: text,
      body: text,
      /** One of `deliveryStates` of the contract. */
      state: text,
      due_at: bigint,
      created_at: bigint,
      worker: optional(text),
      leased_until: optional(bigint),
      delivered_at: optional(bigint),
      /** Why the last attempt failed. */
      reason: optional(text),
      attempts: withDefault(integer, 0),
    },
    indexes: {
      webhook_deliveries_by_account_state: "(account_id, state, id)",
      webhook_deliveries_by_webhook: "(account_id, state, webhook_row, due_at, id)",
      webhook_deliveries_by_state: "(due_at, account_id) where state = 'queued'",
      webhook_deliveries_by_creation: "(account_id, created_at, id)",
      webhook_deliveries_by_success: "(account_id, webhook_row, delivered_at) where delivered_at is not null",
    },
    fileIndexes: { webhook_deliveries_by_account: "(account_id, id)" },
  },
  /** The log of delivery attempts. */
  webhook_attempts: {
    columns: {
      id: rowId,
      account_id: account,
      delivery_row: bigint,
      worker: text,
      started_at: bigint,
      /** Null while in progress, or if the worker crashed. */
      duration_ms: optional(bigint),
      /** The HTTP status; null without a response. */
      status: optional(integer),
      problem: optional(text),
    },
    indexes: {
      webhook_attempts_by_delivery: "(account_id, delivery_row, id)",
      webhook_attempts_failed: "(account_id, started_at) where problem is not null",
    },
    fileIndexes: { webhook_attempts_by_account: "(account_id, id)" },
  },
});
