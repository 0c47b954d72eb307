import { type Kysely, sql } from "kysely";
import type { StorageDialect } from "../dialect.ts";
import { starCount, starScore } from "../rating-sql.ts";
import type { Tables } from "../tables.ts";
import type { Column } from "../tables/columns.ts";
import { formatColumn, formatIndexes } from "./create-table.ts";

/** What a migration changes, in a transaction that locks the database. */
export interface MigratedDatabase {
  readonly db: Kysely<never>;
  readonly dialect: StorageDialect;
}

/** A numbered change of the schema, the same for all dialects. Released migrations never change. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  /** Changes a database with the schema of the migration before. New databases get the tables of `tables.ts` at once. */
  readonly up: (database: MigratedDatabase) => Promise<void>;
}

/** Adds a column, as `tables.ts` describes it. */
export async function addColumn<T extends keyof Tables>(
  table: T,
  column: keyof Tables[T] & string,
  { db, dialect }: MigratedDatabase,
): Promise<void> {
  const { tables } = await import("../tables.ts");
  const columns: Readonly<Record<string, Column<unknown>>> = tables[table].columns;
  const added = columns[column];
  if (!added) throw new Error(`the table ${table} has no column ${column}`);
  await sql.raw(`alter table "${table}" add column ${formatColumn(column, added, dialect.sqlTypes)}`).execute(db);
}

/** Converts differences of bottom lines to the bottom lines before each change. */
async function recordEarlierBottomLines(database: MigratedDatabase): Promise<void> {
  const { db } = database;
  const { tables } = await import("../tables.ts");
  await addColumn("bottom_line_changes", "group_row", database);
  await addColumn("bottom_line_changes", "updated_at", database);
  const ofTarget = sql`partition by changes.account_id, changes.rating_target`;
  const andLater = sql`(${ofTarget} order by changes.id desc rows unbounded preceding)`;
  await sql`
    with before as (
      select changes.account_id, changes.id, ${starCount} - sum(changes.reviews) over ${andLater} as reviews,
        ${starScore} - sum(changes.score) over ${andLater} as score,
        coalesce((select moves.left_group from bottom_line_changes as moves
          where moves.account_id = changes.account_id and moves.rating_target = changes.rating_target
            and moves.id >= changes.id and moves.left_group is not null
          order by moves.id limit 1), group_products.group_row, 0) as group_row,
        coalesce(lag(changes.changed_at) over (${ofTarget} order by changes.id),
          case when totals.updated_at < changes.changed_at then totals.updated_at else 0 end) as updated_at
      from bottom_line_changes as changes
      join review_totals as totals
        on totals.account_id = changes.account_id and totals.rating_target = changes.rating_target
      left join group_products
        on group_products.account_id = totals.account_id and group_products.product_row = totals.product_row
    )
    update bottom_line_changes set reviews = before.reviews, score = before.score, group_row = before.group_row,
      updated_at = before.updated_at
    from before
    where bottom_line_changes.account_id = before.account_id and bottom_line_changes.id = before.id`.execute(db);
  await sql`
    with last as (
      select account_id, rating_target, max(changed_at) as changed_at from bottom_line_changes
      group by account_id, rating_target
    )
    update review_totals set updated_at = last.changed_at from last
    where review_totals.account_id = last.account_id and review_totals.rating_target = last.rating_target
      and review_totals.updated_at < last.changed_at`.execute(db);
  const dropped = `
    drop index review_totals_listed; drop index review_totals_grouped; drop index review_totals_by_group;
    drop index bottom_line_changes_by_time;
    alter table review_totals drop column shown_reviews; alter table review_totals drop column shown_score;
    alter table review_totals drop column listed; alter table review_totals drop column shown_group;
    alter table bottom_line_changes drop column left_group; alter table bottom_line_changes drop column joined_group;
    alter table bottom_line_changes drop column applied`;
  const { bottom_line_changes, review_totals } = tables;
  const statements = [
    ...dropped.split(";"),
    ...formatIndexes("review_totals", { review_totals_by_product: review_totals.indexes.review_totals_by_product }),
    ...formatIndexes("bottom_line_changes", bottom_line_changes.indexes),
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}

/** Adds the columns of photos as bytes. The worker converts those that are stored as text. */
async function addPhotoColumns(database: MigratedDatabase): Promise<void> {
  await addColumn("account_versions", "photo_bytes", database);
  for (const column of ["photo_type", "photo_size", "thumb_size", "thumb", "photo"] as const) {
    await addColumn("review_images", column, database);
  }
  const review_images_to_convert = "(account_id, id) where content_type <> ''";
  for (const statement of formatIndexes("review_images", { review_images_to_convert })) {
    await sql.raw(statement).execute(database.db);
  }
}

/** Adds the columns of photos in several sizes. The worker converts those that earlier versions stored. */
async function addPhotoSizes(database: MigratedDatabase): Promise<void> {
  const { review_images_to_convert, review_images_to_fetch } = (await import("../tables.ts")).tables.review_images
    .indexes;
  for (const column of ["width", "height", "color", "webp_160", "webp_480", "webp_1200"] as const) {
    await addColumn("review_images", column, database);
  }
  await sql`drop index review_images_to_convert`.execute(database.db);
  for (const statement of formatIndexes("review_images", { review_images_to_convert, review_images_to_fetch })) {
    await sql.raw(statement).execute(database.db);
  }
}

async function addReviewIndexes({ db }: MigratedDatabase): Promise<void> {
  const { reviews_by_reviewer_type, reviews_with_photos } = (await import("../tables.ts")).tables.reviews.indexes;
  await sql`drop index reviews_by_reviewer_type`.execute(db);
  for (const statement of formatIndexes("reviews", { reviews_by_reviewer_type, reviews_with_photos })) {
    await sql.raw(statement).execute(db);
  }
}

async function addIssuedCoupons(database: MigratedDatabase): Promise<void> {
  const { coupons_left, coupons_by_email } = (await import("../tables.ts")).tables.coupons.indexes;
  for (const column of ["issued_at", "issued_to", "email_key"] as const) await addColumn("coupons", column, database);
  for (const statement of formatIndexes("coupons", { coupons_left, coupons_by_email })) {
    await sql.raw(statement).execute(database.db);
  }
}

async function addReviewCoupons(database: MigratedDatabase): Promise<void> {
  const { coupons } = (await import("../tables.ts")).tables;
  await addColumn("reviews", "received_coupon", database);
  await addColumn("coupons", "order_row", database);
  for (const statement of formatIndexes("coupons", coupons.uniqueIndexes, "unique index")) {
    await sql.raw(statement).execute(database.db);
  }
}

/** Lets an email of an order be resent. */
async function addResentEmails(database: MigratedDatabase): Promise<void> {
  const { mails } = (await import("../tables.ts")).tables;
  await addColumn("mails", "resends", database);
  await sql`drop index mails_of_orders`.execute(database.db);
  for (const statement of formatIndexes("mails", mails.uniqueIndexes, "unique index")) {
    await sql.raw(statement).execute(database.db);
  }
}

/** Makes the account part of the keys of tokens, so that they can be on the server of their account. */
async function addAccountToTokenKeys({ db, dialect }: MigratedDatabase): Promise<void> {
  const { utokens } = (await import("../tables.ts")).tables;
  const columns = sql`account_id, token_hash, created_at, expires_at`;
  await sql`create table utokens_before as select id, ${columns} from utokens`.execute(db);
  await sql`drop table utokens`.execute(db);
  const { credential_id: _, ...before } = utokens.columns;
  await dialect.createTables({ utokens: { ...utokens, columns: before } }, db);
  await sql`insert into utokens (${columns}) select ${columns} from utokens_before order by id`.execute(db);
  await sql`drop table utokens_before`.execute(db);
}

/** Adds when the queues of accounts are due, and work that one process at a time does. */
async function addDueTimes(database: MigratedDatabase): Promise<void> {
  const { db, dialect } = database;
  const { account_versions, elected_work } = (await import("../tables.ts")).tables;
  for (const [column, table] of [
    ["emails_due_at", "mails"],
    ["deliveries_due_at", "webhook_deliveries"],
  ] as const) {
    await addColumn("account_versions", column, database);
    await sql`
      update account_versions set ${sql.ref(column)} = pending.at from (
        select account_id, min(due_at) as at from ${sql.table(table)} where state in ('queued', 'leased', 'sending')
        group by account_id
      ) as pending where account_versions.account_id = pending.account_id`.execute(db);
  }
  for (const statement of formatIndexes("account_versions", account_versions.indexes)) {
    await sql.raw(statement).execute(db);
  }
  await sql`drop index webhook_deliveries_by_lease`.execute(db);
  await dialect.createTables({ elected_work }, db);
}

/** Adds the index for parts of texts, which is filled later, and indexes that list records in the order of their IDs. */
async function addSearchTables({ db, dialect }: MigratedDatabase): Promise<void> {
  const { coupons, products, search_blocks, search_postings } = (await import("../tables.ts")).tables;
  await dialect.createTables({ search_blocks, search_postings }, db);
  if (dialect.keysHaveAccounts) return;
  const statements = [
    ...formatIndexes("products", products.fileIndexes),
    ...formatIndexes("coupons", coupons.fileIndexes),
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}

async function addCredentials(database: MigratedDatabase): Promise<void> {
  const { credentials } = (await import("../tables.ts")).tables;
  await addColumn("utokens", "credential_id", database);
  await database.dialect.createTables({ credentials }, database.db);
}

/** Replaces the index for parts of texts, whose form has changed. It is filled again later. */
async function replaceSearchTables({ db, dialect }: MigratedDatabase): Promise<void> {
  const { search_blocks, search_postings } = (await import("../tables.ts")).tables;
  for (const table of ["search_blocks", "search_postings"]) await sql`drop table ${sql.table(table)}`.execute(db);
  await dialect.createTables({ search_blocks, search_postings }, db);
}

async function addCampaigns(database: MigratedDatabase): Promise<void> {
  const { campaigns, campaign_orders, mails } = (await import("../tables.ts")).tables;
  await database.dialect.createTables({ campaigns, campaign_orders }, database.db);
  const { mails_by_campaign } = mails.indexes;
  for (const statement of formatIndexes("mails", { mails_by_campaign })) {
    await sql.raw(statement).execute(database.db);
  }
}

/** The first one describes the oldest schema that can be used: it is not run. */
export const migrations: readonly [Migration, ...Migration[]] = [
  { version: 23, name: "all tables", up: async () => {} },
  {
    version: 24,
    name: "rating targets, and products dropped from emails",
    up: async ({ db }) => {
      for (const table of ["reviews", "review_totals", "bottom_line_changes"]) {
        await sql`alter table ${sql.table(table)} rename column shelf to rating_target`.execute(db);
      }
      await sql`update mails set data = replace(data, '"left_out":', '"dropped":')
        where order_row is not null and data like '{"left_out":%'`.execute(db);
    },
  },
  {
    version: 25,
    name: "one table of limits",
    up: async ({ db }) => {
      await sql`drop table rate_windows`.execute(db);
      await sql`alter table token_buckets rename column full_at to level`.execute(db);
    },
  },
  {
    version: 26,
    name: "bottom lines before each change",
    up: recordEarlierBottomLines,
  },
  {
    version: 27,
    name: "titles that were made from the content of reviews",
    up: (database) => addColumn("reviews", "untitled", database),
  },
  { version: 28, name: "photos as bytes", up: addPhotoColumns },
  {
    version: 29,
    name: "keys of email addresses",
    up: async (database) => {
      const { renewEmailKeys } = await import("./email-keys.ts");
      await addColumn("users", "address_key", database);
      await addColumn("missed_products", "email_key", database);
      await renewEmailKeys(database);
    },
  },
  { version: 30, name: "tokens by account", up: addAccountToTokenKeys },
  { version: 31, name: "due times of accounts, and elected work", up: addDueTimes },
  { version: 32, name: "issued coupon codes", up: addIssuedCoupons },
  { version: 33, name: "resent emails", up: addResentEmails },
  { version: 34, name: "search for parts of texts", up: addSearchTables },
  { version: 35, name: "credentials with roles", up: addCredentials },
  { version: 36, name: "a smaller index for parts of texts", up: replaceSearchTables },
  { version: 37, name: "email campaigns", up: addCampaigns },
  { version: 38, name: "languages of orders", up: (database) => addColumn("orders", "language", database) },
  { version: 39, name: "coupons for reviews", up: addReviewCoupons },
  { version: 40, name: "photos in several sizes", up: addPhotoSizes },
  { version: 41, name: "indexes of reviews with photos, and of verified buyers", up: addReviewIndexes },
];
