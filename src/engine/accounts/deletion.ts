import { sql } from "kysely";
import type { StorageDialect } from "../../storage/dialect.ts";
import type { Table } from "../../storage/tables/columns.ts";
import type { EngineWork, HandlerContext } from "../kernel/handler.ts";
import { findAccountId } from "./administration.ts";

/** Rows per transaction. Those of images are large. */
const batchSize = 1_000;
const imageBatchSize = 20;

/**
 * Disables an account, and then deletes everything that belongs to it, in small transactions, so that other accounts can
 * write in between. If it is interrupted, the account stays disabled, and the next deletion continues.
 * @param onDeleted called with the number of rows deleted so far
 * @returns the number of deleted rows, without the account itself
 * @throws ServiceError `recordNotFound`
 */
export async function deleteAccount(
  appKey: string,
  { read, write }: EngineWork,
  onDeleted?: (rows: number) => void,
): Promise<number> {
  const id = await read((context) => findAccountId(appKey, context));
  await write(id, (context) => beginDeletion(id, context));
  const tables = await read(async ({ dialect }) => (await listOwnedTables(dialect)).map(({ name }) => name));
  let deleted = 0;
  // The last transaction deletes the row that locks the account.
  for (const table of tables.filter((name) => name !== "account_versions")) {
    const limit = table === "review_images" ? imageBatchSize : batchSize;
    let rows: number;
    do {
      rows = await write(id, (context) => deleteBatch(table, { id, limit }, context));
      deleted += rows;
      onDeleted?.(deleted);
    } while (rows === limit);
  }
  return deleted + (await write(id, (context) => deleteRest(id, tables, context)));
}

async function beginDeletion(id: number, { transaction, nowMs }: HandlerContext): Promise<void> {
  await transaction
    .updateTable("accounts")
    .set({
      disabled_at: sql<number>`coalesce(disabled_at, ${nowMs})`,
      deletion_began_at: sql<number>`coalesce(deletion_began_at, ${nowMs})`,
    })
    .where("id", "=", id)
    .execute();
}

/** Lists the tables whose rows belong to accounts, and their columns. */
export async function listOwnedTables({ keysHaveAccounts }: Pick<StorageDialect, "keysHaveAccounts">) {
  const { tables } = await import("../../storage/tables.ts");
  return Object.entries<Table>(tables)
    .filter(([, { columns, view }]) => "account_id" in columns && (keysHaveAccounts || view === undefined))
    .map(([name, { columns }]) => ({ name, columns }));
}

async function deleteBatch(
  table: string,
  { id, limit }: { readonly id: number; readonly limit: number },
  { transaction, dialect }: HandlerContext,
): Promise<number> {
  const isNext = dialect.isAmongFirst(table, sql`account_id = ${id}`, limit);
  const { numAffectedRows = 0n } = await sql`delete from ${sql.table(table)} where ${isNext}`.execute(transaction);
  return Number(numAffectedRows);
}

/** Deletes the account, and what calls that began before it was disabled have added in the meantime. */
async function deleteRest(id: number, tables: readonly string[], { transaction }: HandlerContext): Promise<number> {
  let deleted = 0n;
  for (const table of tables) {
    const { numAffectedRows = 0n } = await sql`
      delete from ${sql.table(table)} where account_id = ${id}`.execute(transaction);
    deleted += numAffectedRows;
  }
  await transaction.deleteFrom("accounts").where("id", "=", id).execute();
  return Number(deleted);
}
