import type { Generated } from "kysely";

export interface AccountTables {
  accounts: {
    id: Generated<number>;
    app_key: string;
    /** The encrypted account secret. Verifying vendor signatures requires the plain text. */
    secret_sealed: string;
    created_at: number;
    /** When the operator closed the account; null if it is active. */
    disabled_at: Generated<number | null>;
    /** When the operator began to delete the account. Then it is disabled and stays so. */
    deletion_began_at: Generated<number | null>;
    /** When the secret was last replaced. Tokens, and links that sign in, are valid only if they are newer. */
    secret_changed_at: Generated<number | null>;
  };
  /** Unused invitations. The code of each lets its holder create one account. */
  invitations: {
    id: Generated<number>;
    /** SHA-256 of the code, hexadecimal. */
    code_hash: string;
    created_at: number;
    expires_at: number;
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
    /** `owner`, `shopper`, or `store`. Shoppers and the store have no password and no URL. */
    kind: Generated<string>;
    /** A shopper's email address in lower case. */
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
  /** Settings that differ from the defaults. */
  account_settings: {
    account_id: number;
    name: string;
    /** JSON. */
    value: string;
    updated_at: number;
  };
  /** Results of calls with an idempotency key. */
  idempotent_calls: {
    id: Generated<number>;
    account_id: number;
    /** SHA-256 of path and key. */
    key_hash: string;
    /** SHA-256 of the input. */
    input_hash: string;
    /** The output: `json`, `deflated`, or `sealed`, then a colon and the text. */
    response: string;
    created_at: number;
  };
  rate_windows: {
    account_id: number;
    name: string;
    started_at: number;
    taken: number;
  };
  token_buckets: {
    /** The limit, and the account or a hash of the recipient. */
    name: string;
    full_at: number;
  };
  /** A transaction that changes rows of an account changes this row first, which locks the account on a server. */
  account_versions: {
    account_id: number;
    /** Increases with each transaction. */
    version: number;
  };
  /** The accounts of records that anyone may name by their ID alone. */
  public_ids: {
    kind: PublicKind;
    id: number;
    account_id: number;
  };
}

export type PublicKind = "answer" | "image" | "review" | "user";
