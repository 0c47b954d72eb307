import {
  type Column,
  account,
  bigint,
  integer,
  optional,
  ownId,
  rowId,
  text,
  withDefault,
  defineTables,
} from "./columns.ts";

export const accountTables = defineTables({
  accounts: {
    columns: {
      id: ownId,
      app_key: text,
      /** The encrypted account secret. Verifying vendor signatures requires the plain text. */
      secret_sealed: text,
      created_at: bigint,
      /** When the operator closed the account; null if it is active. */
      disabled_at: optional(bigint),
      /** When the operator began to delete the account. Then it is disabled and stays so. */
      deletion_began_at: optional(bigint),
      /** When the secret was last replaced. Tokens, and links that sign in, are valid only if they are newer. */
      secret_changed_at: optional(bigint),
    },
    unique: { accounts_app_key: ["app_key"] },
  },
  /** Unused invitations. The code of each lets its holder create one account. */
  invitations: {
    columns: {
      id: ownId,
      /** SHA-256 of the code, hexadecimal. */
      code_hash: text,
      created_at: bigint,
      expires_at: bigint,
    },
    unique: { invitations_code: ["code_hash"] },
  },
  users: {
    columns: {
      id: rowId,
      account_id: account,
      email: text,
      display_name: text,
      password_hash: text,
      url: text,
      slug: text,
      bio: optional(text),
      social_image: optional(text),
      created_at: bigint,
      score: withDefault(integer, 0),
      /** `owner`, `shopper`, or `store`. Shoppers and the store have no password and no URL. */
      kind: withDefault(text, "owner"),
      /** The key of the shopper's email address, if it is verified. */
      email_key: optional(text),
      /** The key of the email address. */
      address_key: withDefault(text, ""),
    },
    unique: { users_slug: ["account_id", "slug"] },
    indexes: {
      users_by_kind: "(account_id, kind, id)",
      users_by_owner_slug: "(slug) where kind = 'owner'",
      users_by_unverified_email: "(account_id, address_key) where email_key is null",
    },
    uniqueIndexes: { users_by_email: "(account_id, email_key) where email_key is not null" },
  },
  utokens: {
    columns: {
      id: rowId,
      account_id: account,
      /** SHA-256 of the token, hexadecimal. */
      token_hash: text,
      created_at: bigint,
      expires_at: bigint,
      /** The credential whose role the token has; null if it may make all calls. */
      credential_id: optional(bigint),
    },
    unique: { utokens_hash: ["account_id", "token_hash"] },
    indexes: { utokens_by_age: "(account_id, created_at, id)" },
  },
  /** Further secrets of accounts, whose tokens have a role. */
  credentials: {
    columns: {
      id: rowId,
      account_id: account,
      role: text,
      name: optional(text),
      /** SHA-256 of the secret, hexadecimal. */
      secret_hash: text,
      created_at: bigint,
      last_used_at: optional(bigint),
    },
    unique: { credentials_secret: ["account_id", "secret_hash"] },
  },
  account_platforms: {
    columns: {
      account_id: account,
      platform_type_id: integer,
      shop_domain: text,
      shop_token: text,
      updated_at: bigint,
    },
    key: ["account_id"],
  },
  account_features: {
    columns: {
      account_id: account,
      feature: text,
      enabled: integer,
    },
    key: ["account_id", "feature"],
  },
  /** Settings that differ from the defaults. */
  account_settings: {
    columns: {
      account_id: account,
      name: text,
      /** JSON. */
      value: text,
      updated_at: bigint,
    },
    key: ["account_id", "name"],
  },
  /** Results of calls with an idempotency key. */
  idempotent_calls: {
    columns: {
      id: rowId,
      account_id: account,
      /** SHA-256 of path and key. */
      key_hash: text,
      /** SHA-256 of the input. */
      input_hash: text,
      /** The output: `json`, `deflated`, or `sealed`, then a colon and the text. */
      response: text,
      created_at: bigint,
    },
    unique: { idempotent_calls_key: ["account_id", "key_hash"] },
    indexes: { idempotent_calls_by_age: "(account_id, created_at)" },
  },
  /** Limits on calls: see `TokenStore`. */
  token_buckets: {
    columns: {
      /** The limit, and the account or a hash of the recipient. */
      name: text,
      level: bigint,
    },
    key: ["name"],
  },
  /** A transaction that changes rows of an account changes this row first, which locks the account on a server. */
  account_versions: {
    columns: {
      account_id: account,
      /** Increases with each transaction. */
      version: bigint,
      /** The space that the photos of the account take up, in bytes: see `photo-storage.ts`. */
      photo_bytes: withDefault(bigint, 0),
      /** When a worker must look for due emails or expired leases, at the latest; null if none are pending. */
      emails_due_at: optional(bigint),
      /** The same for webhook deliveries. */
      deliveries_due_at: optional(bigint),
    },
    key: ["account_id"],
    indexes: {
      account_versions_by_emails: "(emails_due_at, account_id) where emails_due_at is not null",
      account_versions_by_deliveries: "(deliveries_due_at, account_id) where deliveries_due_at is not null",
    },
  },
  /** Work on all accounts that one process at a time does. */
  elected_work: {
    columns: {
      name: text,
      /** The process that does it; null between two rounds. */
      worker: optional(text),
      /** When the process loses it, or when the next round begins. */
      due_at: bigint,
      /** The account after which the round continues. */
      walked_to: bigint,
    },
    key: ["name"],
  },
  /** The accounts of records that anyone may name by their ID alone. */
  public_ids: {
    columns: {
      kind: text as Column<PublicKind>,
      id: bigint,
      account_id: bigint,
    },
    key: ["kind", "id"],
    indexes: { public_ids_of_account: "(account_id, kind, id)" },
    view: `select 'review' as kind, id, account_id from reviews union all
      select 'answer' as kind, id, account_id from answers union all
      select 'image' as kind, id, account_id from review_images union all
      select 'user' as kind, id, account_id from users`,
  },
});

export type PublicKind = "answer" | "image" | "review" | "user";
