import type { Generated } from "kysely";

export interface EmailTables {
  /** The email outbox. */
  mails: {
    id: Generated<number>;
    account_id: number;
    category: string;
    email_type_id: number;
    email: string;
    email_key: string;
    name: string;
    /** JSON: the data of the template, by category. For emails of orders, only what cannot be read from the order. */
    data: string;
    /** One of `emailStates` of the contract. */
    state: string;
    due_at: number;
    created_at: number;
    /** Only for emails of orders. */
    order_row: Generated<number | null>;
    /** Only for emails of orders: the product, or 0 if the email is about the complete order. */
    product_row: Generated<number | null>;
    /** Why it was not sent, or the result of the last attempt. */
    reason: Generated<string | null>;
    sent_at: Generated<number | null>;
    /** The email provider's ID, known after the first event. */
    provider_id: Generated<string | null>;
    /** The worker that is sending it. For a queued email: the worker that may have sent it already. */
    worker: Generated<string | null>;
    leased_until: Generated<number | null>;
    attempts: Generated<number>;
    /** When it was first held, because its account may not send it yet. */
    held_at: Generated<number | null>;
  };
  /** Emails as they were sent, without attempts that failed. */
  mail_messages: {
    account_id: number;
    mail_row: number;
    subject: string;
    /** The header section, with CRLF line endings. */
    headers: string;
    text: string;
    html: string;
    sent_at: number;
  };
  /** Whether an account may send emails through a mail server, and how many. Accounts without a row may not. */
  email_permissions: {
    account_id: number;
    enabled_at: number | null;
    /** Emails per day; null for the default. */
    daily_quota: Generated<number | null>;
    /** The day, in days since the epoch (UTC), to which `quota_used` applies. */
    quota_day: Generated<number>;
    quota_used: Generated<number>;
  };
  /** Recipients of test emails of accounts that may not send emails yet. */
  test_recipients: {
    account_id: number;
    email_key: string;
    created_at: number;
  };
  /** Provider events of emails, without duplicates. */
  mail_events: {
    id: Generated<number>;
    account_id: number;
    mail_row: number;
    event: string;
    /** Identifies duplicates of the same event. */
    event_key: string;
    detail: string | null;
    occurred_at: number;
    created_at: number;
  };
  /** Addresses to which no more emails are sent, and the email whose event caused it. */
  mail_suppressions: {
    account_id: number;
    email_key: string;
    /** `bounces` or `spamreports`. */
    kind: string;
    mail_row: number;
    created_at: number;
  };
  mail_stops: {
    account_id: number;
    /** The order ID as the store knows it. The order may not exist yet. */
    order_id: string;
    /** The product ID as the store knows it; empty for all products of the order. */
    product_id: string;
    created_at: number;
  };
  /** Customized email templates. */
  mail_templates: {
    account_id: number;
    category: string;
    subject: string;
    text: string;
    html: string;
    updated_at: number;
    /** Consecutive emails for which it failed since it was saved. */
    failures: Generated<number>;
    /** The last failure. */
    problem: Generated<string | null>;
    /** When it was disabled because of its failures. */
    disabled_at: Generated<number | null>;
  };
  mail_counts: {
    account_id: number;
    category: string;
    /** Days since the epoch, UTC. */
    day: number;
    counter: string;
    mails: number;
  };
  unsubscribers: {
    id: Generated<number>;
    account_id: number;
    email_type_id: number;
    email: string;
    /** The email address in lower case; identifies a person. */
    email_key: string;
    by_name: string;
    created_at: number;
  };
}
