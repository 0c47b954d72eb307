import type { Generated } from "kysely";

export interface WebhookTables {
  webhooks: {
    id: Generated<number>;
    account_id: number;
    url: string;
    event_name: string;
    secret_sealed: string;
    created_at: number;
    /** Deliveries are paused until then, as requested by the receiver. */
    held_until: Generated<number | null>;
  };
  /** The webhook outbox. */
  webhook_deliveries: {
    id: Generated<number>;
    account_id: number;
    webhook_row: number;
    event_id: string;
    event_name: string;
    body: string;
    /** One of `deliveryStates` of the contract. */
    state: string;
    due_at: number;
    created_at: number;
    worker: Generated<string | null>;
    leased_until: Generated<number | null>;
    delivered_at: Generated<number | null>;
    /** Why the last attempt failed. */
    reason: Generated<string | null>;
    attempts: Generated<number>;
  };
  /** The log of delivery attempts. */
  webhook_attempts: {
    id: Generated<number>;
    account_id: number;
    delivery_row: number;
    worker: string;
    started_at: number;
    /** Null while in progress, or if the worker crashed. */
    duration_ms: number | null;
    /** The HTTP status; null without a response. */
    status: number | null;
    problem: string | null;
  };
}
