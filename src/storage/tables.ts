import type { Generated, Selectable } from "kysely";

/** Row types. Times are milliseconds since the epoch, UTC; flags are 0 or 1; in both dialects alike. */
export interface Tables {
  accounts: {
    id: Generated<number>;
    app_key: string;
    /** The account secret, sealed; vendor signatures need it back. */
    secret_sealed: string;
    created_at: number;
  };
  users: {
    id: Generated<number>;
    account_id: number;
    email: string;
    display_name: string;
    password_hash: string;
    url: string;
    slug: string;
    score: Generated<number>;
    bio: string | null;
    social_image: string | null;
    created_at: number;
    /** `owner` of the account, `shopper`, or the `store` itself; the last two have no password and no URL. */
    kind: Generated<string>;
    /** A shopper's address in lower case. */
    email_key: Generated<string | null>;
  };
  utokens: {
    id: Generated<number>;
    account_id: number;
    /** SHA-256 of the token, hexadecimal. */
    token_hash: string;
    created_at: number;
    expires_at: number;
  };
  account_platforms: {
    account_id: number;
    platform_type_id: number;
    shop_domain: string;
    shop_token: string;
    updated_at: number;
  };
  account_features: {
    account_id: number;
    feature: string;
    enabled: number;
  };
  products: {
    id: Generated<number>;
    account_id: number;
    /** The store's own id of the product. */
    product_id: string;
    name: string;
    url: string;
    image_url: string | null;
    description: string | null;
    currency_iso: string | null;
    price: string | null;
    product_tags: string | null;
    blacklisted: Generated<number>;
    upc: string | null;
    mpn: string | null;
    brand: string | null;
    isbn: string | null;
    sku: string | null;
    external_sku: string | null;
    created_at: number;
    updated_at: number;
  };
  orders: {
    id: Generated<number>;
    account_id: number;
    order_id: string;
    platform: string;
    email: string;
    customer_name: string;
    /** Midnight UTC of the order's day, or the time of the call where none was given. */
    order_date: number;
    currency_iso: string | null;
    user_reference: string | null;
    created_at: number;
    /** Whether it brings mails: not where it was imported as a past one. */
    sends_mail: Generated<number>;
  };
  /** The addresses of orders, noted when they are asked for; the last one tells how far. */
  order_emails: {
    account_id: number;
    order_row: number;
    /** In lower case, as the database has it. */
    email_key: string;
  };
  purchases: {
    id: Generated<number>;
    account_id: number;
    order_row: number;
    product_row: number;
    /** From 1: which of the order's line items of this product. */
    unit: number;
    price: string | null;
    created_at: number;
  };
  /** Purchases by the day they came, so that a list's total and its first id cost the same at any size. */
  purchase_days: {
    account_id: number;
    /** Days since the epoch, UTC. */
    day: number;
    /** No purchase of the day has a lower id. */
    first_id: number;
    purchases: number;
  };
  mail_stops: {
    account_id: number;
    /** The store's own order id; the order need not have arrived yet. */
    order_id: string;
    /** The store's own product id; empty for all products of the order. */
    product_id: string;
    created_at: number;
  };
  coupons: {
    id: Generated<number>;
    account_id: number;
    action: string;
    code: string;
    created_at: number;
  };
  unsubscribers: {
    id: Generated<number>;
    account_id: number;
    email_type_id: number;
    email: string;
    /** The address in lower case: one person, however it is written. */
    email_key: string;
    by_name: string;
    created_at: number;
  };
  reviews: {
    id: Generated<number>;
    account_id: number;
    /** Null for a review of the store itself. */
    product_row: number | null;
    user_row: number;
    /** Where it is read from: `p<product>`, `g<group>` while the product is in one, `s<account>`. */
    shelf: string;
    title: string;
    content: string;
    score: number;
    reviewer_type: string;
    user_reference: string | null;
    domain: string | null;
    published: number;
    votes_up: number;
    votes_down: number;
    comment: string | null;
    comment_at: number | null;
    /** How many images it has. */
    images: number;
    created_at: number;
    updated_at: number;
    /** The order whose mail it was written from. */
    order_row: Generated<number | null>;
  };
  /** Published reviews of a shelf by stars; a product has its own shelf also while it is in a group. */
  review_totals: {
    account_id: number;
    shelf: string;
    product_row: number | null;
    stars_1: number;
    stars_2: number;
    stars_3: number;
    stars_4: number;
    stars_5: number;
    /** As the delayed bottom lines show it: reviews, and the sum of their scores. */
    shown_reviews: number;
    shown_score: number;
    /** 1 for a product that the bottom lines show: it has reviews, or its group has. */
    listed: number;
    /** Of what is shown. */
    updated_at: number;
  };
  /** What the delayed bottom lines do not show yet. */
  bottom_line_changes: {
    id: Generated<number>;
    account_id: number;
    shelf: string;
    reviews: number;
    score: number;
    due_at: number;
  };
  /** Append-only. */
  review_events: {
    id: Generated<number>;
    account_id: number;
    review_row: number;
    event: string;
    by_name: string;
    reason: string | null;
    created_at: number;
  };
  review_images: {
    id: Generated<number>;
    account_id: number;
    review_row: number;
    content_type: string;
    base64: string;
    created_at: number;
  };
  votes: {
    id: Generated<number>;
    account_id: number;
    /** `review` or `answer`. */
    target: string;
    target_row: number;
    direction: string;
    created_at: number;
  };
  questions: {
    id: Generated<number>;
    account_id: number;
    product_row: number;
    user_row: number;
    content: string;
    /** SHA-256 of the content in one form, however it is written: an index cannot hold texts of any length. */
    content_key: string;
    user_type: string;
    /** `pending` until its asker confirms it, then `public`. */
    state: string;
    created_at: number;
    confirmed_at: number | null;
  };
  answers: {
    id: Generated<number>;
    account_id: number;
    question_row: number;
    user_row: number;
    content: string;
    by_store: number;
    published: number;
    votes_up: number;
    votes_down: number;
    created_at: number;
  };
  /** Public questions of a product, and their public answers. */
  question_totals: {
    account_id: number;
    product_row: number;
    questions: number;
    answers: number;
  };
  product_groups: {
    id: Generated<number>;
    account_id: number;
    name: string;
    created_at: number;
    updated_at: number;
  };
  group_products: {
    account_id: number;
    group_row: number;
    product_row: number;
  };
  /** Lines of orders that were passed over for their product id. */
  missed_products: {
    id: Generated<number>;
    account_id: number;
    order_id: string;
    product_sku: string;
    product_name: string;
    user_email: string;
    user_name: string;
    order_date: number;
    created_at: number;
  };
  promoted_products: {
    account_id: number;
    /** From 1. */
    position: number;
    product_row: number;
  };
  /** The outbox of mails. */
  mails: {
    id: Generated<number>;
    account_id: number;
    category: string;
    email_type_id: number;
    email: string;
    email_key: string;
    name: string;
    /** JSON: what the mail says, by its category; of one that an order brings, what it leaves out. */
    data: string;
    /** One of `emailStates` of the contract. */
    state: string;
    due_at: number;
    created_at: number;
    /** Of a mail that an order brings. */
    order_row: Generated<number | null>;
    /** Of a mail that an order brings: its product, or 0 where the mail is about the whole order. */
    product_row: Generated<number | null>;
    /** Why it was not sent, or what the last attempt was answered. */
    reason: Generated<string | null>;
    sent_at: Generated<number | null>;
    /** What the mail provider calls it, once an event has told. */
    provider_id: Generated<string | null>;
    /** Who is sending it, and until when nobody else may; of a queued one, who may have sent it already. */
    worker: Generated<string | null>;
    leased_until: Generated<number | null>;
    /** Times it was handed over, or was to be. */
    attempts: Generated<number>;
  };
  /** What became of mails, each event once. */
  mail_events: {
    id: Generated<number>;
    account_id: number;
    mail_row: number;
    event: string;
    /** What tells a repeat of the same event from a new one. */
    event_key: string;
    detail: string | null;
    occurred_at: number;
    created_at: number;
  };
  /** Addresses that nothing is sent to any more, and the mail that told. */
  mail_suppressions: {
    account_id: number;
    email_key: string;
    /** `bounces` or `spamreports`. */
    kind: string;
    mail_row: number;
    created_at: number;
  };
  /** What an account has set otherwise than the service does by itself. */
  account_settings: {
    account_id: number;
    name: string;
    /** JSON. */
    value: string;
    updated_at: number;
  };
  /** The account's own templates of mails. */
  mail_templates: {
    account_id: number;
    category: string;
    subject: string;
    text: string;
    html: string;
    updated_at: number;
  };
  mail_counts: {
    account_id: number;
    category: string;
    /** Days since the epoch, UTC. */
    day: number;
    counter: string;
    mails: number;
  };
  webhooks: {
    id: Generated<number>;
    account_id: number;
    url: string;
    event_name: string;
    secret_sealed: string;
    created_at: number;
    /** Nothing is delivered before, as its receiver has asked. */
    held_until: Generated<number | null>;
  };
  /** The outbox of webhooks. */
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
    /** What the last attempt came to, where it failed. */
    reason: Generated<string | null>;
    attempts: Generated<number>;
  };
  /** The log of deliveries. */
  webhook_attempts: {
    id: Generated<number>;
    account_id: number;
    delivery_row: number;
    worker: string;
    started_at: number;
    /** Nothing while it is under way, or where its worker was lost. */
    duration_ms: number | null;
    /** Of HTTP; nothing where there was no answer. */
    status: number | null;
    problem: string | null;
  };
  rate_windows: {
    account_id: number;
    name: string;
    started_at: number;
    taken: number;
  };
}

export type Row<T extends keyof Tables> = Selectable<Tables[T]>;
