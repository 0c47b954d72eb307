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
}

export type Row<T extends keyof Tables> = Selectable<Tables[T]>;
