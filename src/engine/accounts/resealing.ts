import { sql } from "kysely";
import { accountIdOf, type EngineWork, type HandlerContext } from "../kernel/handler.ts";

/** Where sealed texts are stored: the column, the column that identifies rows, and what precedes the sealed text. */
interface SealedColumn {
  readonly table: string;
  readonly column: string;
  readonly key: string;
  readonly before?: string;
  readonly after?: string;
}

/** All columns that contain texts that only this service can read. Links in emails are not stored to be opened. */
export const sealedColumns: readonly SealedColumn[] = [
  { table: "accounts", column: "secret_sealed", key: "id" },
  { table: "webhooks", column: "secret_sealed", key: "id" },
  { table: "idempotent_calls", column: "response", key: "id", before: "sealed:" },
  // The signing secret of email events, and the key of erased addresses, as JSON. No other setting is sealed.
  { table: "account_settings", column: "value", key: "account_id", before: '"', after: '"' },
];

/** Texts per transaction, and accounts per search. */
const batchSize = 500;

interface SealedRow {
  readonly key: number;
  readonly text: string;
}

/** Counts the texts that are not sealed with the current key. */
export async function countOutdated(context: HandlerContext): Promise<number> {
  let outdated = 0;
  for (const place of sealedColumns) {
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from ${sql.table(place.table)} where ${isOutdated(place, context)}`.execute(
      context.transaction,
    );
    outdated += rows[0]?.count ?? 0;
  }
  return outdated;
}

/**
 * Seals every text again with the current key, in small transactions of one account each. If it is interrupted, every text
 * is sealed with the current or with an earlier key, and the next run continues.
 * @returns the number of texts that were sealed again, and of those that no key can open, which remain unchanged
 */
export async function resealAll({
  read,
  write,
}: EngineWork): Promise<{ readonly resealed: number; readonly unreadable: number }> {
  let [resealed, unreadable] = [0, 0];
  const resealAccount = async (place: SealedColumn, accountId: number) => {
    for (let after: number | undefined = 0; after !== undefined;) {
      const from: number = after;
      const batch = await write(accountId, (context) => resealBatch(place, from, context));
      resealed += batch.resealed;
      unreadable += batch.unreadable;
      after = batch.last;
    }
  };
  for (const place of sealedColumns) {
    for (let after: number | undefined = 0; after !== undefined;) {
      const from: number = after;
      const accountIds = await read((context) => findAccounts(place, from, context));
      for (const accountId of accountIds) await resealAccount(place, accountId);
      after = accountIds.at(-1);
    }
  }
  return { resealed, unreadable };
}

/** Finds the next accounts with texts that are not sealed with the current key. */
async function findAccounts(place: SealedColumn, after: number, context: HandlerContext): Promise<readonly number[]> {
  const owner = ownerOf(place);
  const { rows } = await sql<{ account_id: number }>`
    select distinct ${owner} as account_id from ${sql.table(place.table)}
    where ${owner} > ${after} and ${isOutdated(place, context)}
    order by ${owner} limit ${sql.lit(batchSize)}`.execute(context.transaction);
  return rows.map(({ account_id }) => account_id);
}

function ownerOf({ table }: SealedColumn) {
  return sql.ref(table === "accounts" ? "id" : "account_id");
}

async function resealBatch(place: SealedColumn, after: number, context: HandlerContext) {
  const { transaction, sealer } = context;
  const [table, column, key] = [sql.table(place.table), sql.ref(place.column), sql.ref(place.key)];
  const isOwned = sql`${ownerOf(place)} = ${accountIdOf(context)}`;
  const { rows } = await sql<SealedRow>`
    select ${key} as key, ${column} as text from ${table}
    where ${isOwned} and ${isOutdated(place, context)} and ${key} > ${after}
    order by ${key} limit ${sql.lit(batchSize)}`.execute(transaction);
  const { before = "", after: end = "" } = place;
  let resealed = 0;
  for (const { key: id, text } of rows) {
    const sealed = text.slice(before.length, text.length - end.length);
    const opened = tryOpen(sealed, context);
    if (opened === undefined) continue;
    await sql`update ${table} set ${column} = ${before + sealer.seal(opened) + end}
      where ${isOwned} and ${key} = ${id} and ${column} = ${text}`.execute(transaction);
    resealed += 1;
  }
  const last = rows.length < batchSize ? undefined : rows.at(-1)?.key;
  return { resealed, unreadable: rows.length - resealed, last };
}

function isOutdated({ column, before = "" }: SealedColumn, { sealer }: Pick<HandlerContext, "sealer">) {
  const text = sql.ref(column);
  return sql<boolean>`${text} like ${`${before}v1.%`} and ${text} not like ${`${before}${sealer.prefix()}%`}`;
}

function tryOpen(sealed: string, { sealer }: Pick<HandlerContext, "sealer">): string | undefined {
  try {
    return sealer.open(sealed);
  } catch {
    return undefined;
  }
}
