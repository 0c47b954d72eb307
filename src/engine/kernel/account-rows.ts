import type {
  DeleteQueryBuilder,
  DeleteResult,
  JoinBuilder,
  Kysely,
  SelectQueryBuilder,
  UpdateQueryBuilder,
  UpdateResult,
} from "kysely";
import type { Tables } from "../../storage/tables.ts";

/** The tables whose rows belong to accounts. */
type AccountTable = {
  [Table in keyof Tables]: Tables[Table] extends { readonly account_id: number } ? Table : never;
}[keyof Tables];

type Database = Pick<Kysely<Tables>, "selectFrom" | "updateTable" | "deleteFrom">;

/** Begins a query of an account's rows of a table. */
export function selectAccountRows<Table extends AccountTable>(table: Table, accountId: number, db: Database) {
  const rows = db.selectFrom<AccountTable>(table).where(`${table as "mails"}.account_id`, "=", accountId);
  return rows as unknown as SelectQueryBuilder<Tables, Table, object>;
}

/** Begins a change of an account's rows of a table. */
export function updateAccountRows<Table extends AccountTable>(table: Table, accountId: number, db: Database) {
  const rows = db.updateTable(table as "mails").where("account_id", "=", accountId);
  return rows as unknown as UpdateQueryBuilder<Tables, Table, Table, UpdateResult>;
}

/** Begins a deletion of an account's rows of a table. */
export function deleteAccountRows<Table extends AccountTable>(table: Table, accountId: number, db: Database) {
  const rows = db.deleteFrom(table as "mails").where("account_id", "=", accountId);
  return rows as unknown as DeleteQueryBuilder<Tables, Table, DeleteResult>;
}

/** A column with the name of its table in front. */
type ColumnName = { [Table in AccountTable]: `${Table}.${keyof Tables[Table] & string}` }[AccountTable];

/** The condition that joins rows of the same account by a column of each: `innerJoin("users", sameAccount("users.id", "reviews.user_row"))`. */
export function sameAccount(column: ColumnName, other: ColumnName) {
  const accountOf = (name: ColumnName) => `${name.slice(0, name.indexOf("."))}.account_id`;
  return (join: JoinBuilder<never, never>): JoinBuilder<never, never> =>
    join.onRef(accountOf(column) as never, "=", accountOf(other) as never).onRef(column as never, "=", other as never);
}
