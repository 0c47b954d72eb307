import { account, bigint, integer, optional, rowId, text, withDefault, defineTables } from "./columns.ts";

export const emailTables = defineTables({
  /** The email outbox. */
  mails: {
    columns: {
      id: rowId,
      account_id: account,
      category: text,
      email_type_id: integer,
      email: text,
      email_key: text,
      name: text,
      /** JSON: the data of the template, by category. For emails of orders, only what cannot be read from the order. */
      data: text,
      /** One of `emailStates` of the contract. */
      state: text,
      due_at: bigint,
      created_at: bigint,
      /** Only for emails of orders. */
      order_row: optional(bigint),
      /** Only for emails of orders: the product, or 0 if the email is about the complete order. */
      product_row: optional(bigint),
      /** Why it was not sent, or the result of the last attempt. */
      reason: optional(text),
      sent_at: optional(bigint),
      /** The email provider's ID, known after the first event. */
      provider_id: optional(text),
      /** The worker that is sending it. For a queued email: the worker that may have sent it already. */
      worker: optional(text),
      leased_until: optional(bigint),
      attempts: withDefault(integer, 0),
      /** When it was first held, because its account may not send it yet. */
      held_at: optional(bigint),
      /** The email of which this is a copy, sent by hand; minus the campaign that queued it; otherwise 0. */
      resends: withDefault(bigint, 0),
    },
    indexes: {
      mails_by_person: "(account_id, email_key, sent_at)",
      mails_by_account_state: "(account_id, state, due_at, id)",
      mails_by_provider_id: "(account_id, provider_id) where provider_id is not null",
      mails_by_state: "(due_at, account_id) where state = 'queued'",
      mails_by_lease: "(leased_until, account_id) where leased_until is not null",
      mails_by_state_and_creation: "(account_id, state, created_at, id)",
      mails_by_campaign: "(account_id, resends, state) where resends < 0",
      mails_by_product: "(account_id, product_row, created_at, id) where product_row is not null",
    },
    uniqueIndexes: {
      mails_of_orders: "(account_id, order_row, product_row, category, resends) where order_row is not null",
    },
    fileIndexes: { mails_by_account: "(account_id, id)" },
  },
  /** Requests for reviews to the customers of chosen orders, at a limited rate. */
  campaigns: {
    columns: {
      id: rowId,
      account_id: account,
      name: text,
      category: text,
      /** JSON: the filters of the orders; see `Selection`. */
      selection: text,
      per_hour: integer,
      /** One of `campaignStates` of the contract. */
      state: text,
      created_at: bigint,
      /** When its next emails are to be queued. Only while it is running. */
      next_at: optional(bigint),
      /** The last order whose emails were queued, and the last one of the account when the campaign was created. */
      walked_to: bigint,
      last_order: bigint,
    },
    unique: { campaigns_name: ["account_id", "name"] },
    indexes: { campaigns_by_time: "(account_id, next_at) where next_at is not null" },
  },
  /** The orders of campaigns that were chosen one by one. */
  campaign_orders: {
    columns: { account_id: account, campaign_row: bigint, order_row: bigint },
    key: ["account_id", "campaign_row", "order_row"],
    hasManyRows: true,
  },
  /** Emails as they were sent, without attempts that failed. */
  mail_messages: {
    columns: {
      account_id: account,
      mail_row: bigint,
      subject: text,
      /** The header section, with CRLF line endings. */
      headers: text,
      text: text,
      html: text,
      sent_at: bigint,
    },
    key: ["account_id", "mail_row"],
    hasManyRows: true,
    indexes: { mail_messages_by_age: "(account_id, sent_at)" },
  },
  /** Whether an account may send emails through a mail server, and how many. Accounts without a row may not. */
  email_permissions: {
    columns: {
      account_id: account,
      enabled_at: optional(bigint),
      /** Emails per day; null for the default. */
      daily_quota: optional(bigint),
      /** The day, in days since the epoch (UTC), to which `quota_used` applies. */
      quota_day: withDefault(integer, 0),
      quota_used: withDefault(integer, 0),
    },
    key: ["account_id"],
  },
  /** Recipients of test emails of accounts that may not send emails yet. */
  test_recipients: {
    columns: {
      account_id: account,
      email_key: text,
      created_at: bigint,
    },
    key: ["account_id", "email_key"],
  },
  /** Provider events of emails, without duplicates. */
  mail_events: {
    columns: {
      id: rowId,
      account_id: account,
      mail_row: bigint,
      event: text,
      /** Identifies duplicates of the same event. */
      event_key: text,
      detail: optional(text),
      occurred_at: bigint,
      created_at: bigint,
    },
    unique: { mail_events_key: ["account_id", "event_key"] },
    indexes: { mail_events_by_mail: "(account_id, mail_row, id)" },
  },
  /** Addresses to which no more emails are sent, and the email whose event caused it. */
  mail_suppressions: {
    columns: {
      account_id: account,
      email_key: text,
      /** `bounces` or `spamreports`. */
      kind: text,
      mail_row: bigint,
      created_at: bigint,
    },
    key: ["account_id", "email_key", "kind"],
    hasManyRows: true,
  },
  mail_stops: {
    columns: {
      account_id: account,
      /** The order ID as the store knows it. The order may not exist yet. */
      order_id: text,
      /** The product ID as the store knows it; empty for all products of the order. */
      product_id: text,
      created_at: bigint,
    },
    key: ["account_id", "order_id", "product_id"],
    hasManyRows: true,
  },
  /** Customized email templates. */
  mail_templates: {
    columns: {
      account_id: account,
      category: text,
      subject: text,
      text: text,
      html: text,
      updated_at: bigint,
      /** Consecutive emails for which it failed since it was saved. */
      failures: withDefault(integer, 0),
      /** The last failure. */
      problem: optional(text),
      /** When it was disabled because of its failures. */
      disabled_at: optional(bigint),
    },
    key: ["account_id", "category"],
  },
  mail_counts: {
    columns: {
      account_id: account,
      category: text,
      /** Days since the epoch, UTC. */
      day: bigint,
      counter: text,
      mails: bigint,
    },
    key: ["account_id", "category", "day", "counter"],
    hasManyRows: true,
  },
  unsubscribers: {
    columns: {
      id: rowId,
      account_id: account,
      email_type_id: integer,
      email: text,
      /** The key of the email address; identifies a person. */
      email_key: text,
      by_name: text,
      created_at: bigint,
    },
    unique: { unsubscribers_key: ["account_id", "email_type_id", "email_key"] },
    indexes: { unsubscribers_by_type: "(account_id, email_type_id, created_at, id)" },
    fileIndexes: { unsubscribers_by_account: "(account_id, id)" },
  },
});
