import { type Kysely, type RawBuilder, sql } from "kysely";
import { emailKeyOf } from "../../contract/email-address.ts";
import { batchRows } from "../batch.ts";
import type { StorageDialect } from "../dialect.ts";
import type { Tables } from "../tables.ts";
import { formatIndexes } from "./create-table.ts";

/** Tables with keys of addresses, and the columns with which a key is unique. */
const keyedTables: Readonly<Partial<Record<keyof Tables, readonly string[]>>> = {
  mails: undefined,
  order_emails: undefined,
  unsubscribers: ["email_type_id"],
  mail_suppressions: ["kind"],
  test_recipients: [],
  users: [],
};

interface Database {
  readonly db: Kysely<never>;
  readonly dialect: StorageDialect;
}

interface StoredKey {
  readonly account_id: number;
  readonly email_key: string;
}

/**
 * Stores the keys of all addresses as `emailKeyOf` defines them; earlier versions converted addresses to lower case. Of two
 * shoppers who turn out to be the same person, the second one becomes an author without a verified address. The new columns
 * exist already.
 */
export async function renewEmailKeys(database: Database): Promise<void> {
  for (const [table, unique] of Object.entries(keyedTables)) await renewKeys(table, unique, database);
  await addKeys("users", { column: "address_key", spelling: "email", index: "users_by_unverified_email" }, database);
  const missed = { column: "email_key", spelling: "user_email", index: "missed_products_by_email" } as const;
  await addKeys("missed_products", missed, database);
}

/** Plain addresses in lower case are keys already. */
async function renewKeys(table: string, unique: readonly string[] | undefined, { db, dialect }: Database) {
  const [columns, key] = [["account_id", "email_key", ...(unique ?? [])], sql.ref<string>("email_key")];
  const { rows } = await sql<StoredKey>`select distinct ${sql.join(columns.map((name) => sql.ref(name)))}
    from ${sql.table(table)} where ${dialect.isNotPlain(key)}`.execute(db);
  for (const row of rows) {
    const renewed = { ...row, email_key: emailKeyOf(row.email_key) };
    if (renewed.email_key === row.email_key) continue;
    const [before, after] = [matches(row), matches(renewed)];
    const isTaken = unique && (await sql`select 1 from ${sql.table(table)} where ${after}`.execute(db)).rows.length > 0;
    const change = isTaken
      ? merge(table, before, after)
      : [sql`update ${sql.table(table)} set email_key = ${renewed.email_key} where ${before}`];
    for (const statement of change) await statement.execute(db);
  }
}

function matches(row: StoredKey): RawBuilder<boolean> {
  const conditions = Object.entries(row).map(([name, value]) => sql`${sql.ref(name)} = ${value}`);
  return sql`(${sql.join(conditions, sql` and `)})`;
}

/** The statements that remove a key for which the table has another row already. */
function merge(table: string, before: RawBuilder<boolean>, after: RawBuilder<boolean>): RawBuilder<unknown>[] {
  if (table === "users") return [sql`update users set email_key = null where ${before}`];
  const removal = sql`delete from ${sql.table(table)} where ${before}`;
  if (table !== "unsubscribers") return [removal];
  const byPerson = sql`update unsubscribers set by_name = 'USER' where ${after}
    and exists (select 1 from unsubscribers where ${before} and by_name = 'USER')`;
  return [byPerson, removal];
}

const rowsPerBatch = 10_000;

/** Fills a column with the keys of another one, and replaces the index that contained an expression. */
async function addKeys<T extends "users" | "missed_products">(
  table: T,
  { column, spelling, index }: { column: keyof Tables[T] & string; spelling: string; index: string },
  { db, dialect }: Database,
): Promise<void> {
  const { tables } = await import("../tables.ts");
  const [changed, written] = [sql.table(table), sql.ref<string>(spelling)];
  await sql`update ${changed} set ${sql.ref(column)} = lower(${written}) where not ${dialect.isNotPlain(written)}`.execute(
    db,
  );
  const { rows } = await sql<{ account_id: number; id: number; text: string }>`
    select account_id, id, ${written} as text from ${changed} where ${dialect.isNotPlain(written)}`.execute(db);
  for (let at = 0; at < rows.length; at += rowsPerBatch) {
    const keys = rows.slice(at, at + rowsPerBatch).map((row) => [row.account_id, row.id, emailKeyOf(row.text)]);
    await sql`update ${changed} set ${sql.ref(column)} = batch.new_key
      from ${batchRows({ owner: "integer", row: "integer", new_key: "text" }, keys, dialect)}
      where ${changed}.account_id = batch.owner and ${changed}.id = batch.row`.execute(db);
  }
  const indexes: Readonly<Record<string, string>> = tables[table].indexes;
  await sql`drop index ${sql.ref(index)}`.execute(db);
  for (const statement of formatIndexes(table, { [index]: indexes[index] ?? "" })) await sql.raw(statement).execute(db);
}
