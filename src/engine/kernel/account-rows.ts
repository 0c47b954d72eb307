import type {
  DeleteQueryBuilder,
  DeleteResult,
  ExpressionBuilder,
  JoinBuilder,
  Kysely,
  SelectQueryBuilder,
  UpdateQueryBuilder,
  UpdateResult,
} from "kysely";
import type { Row, Tables } from "../../storage/tables.ts";
import { accountIdOf, type HandlerContext } from "./handler.ts";

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

/** Values of columns: those of a list are alternatives. The account is that of the call, unless another one is named. */
type Match<Table extends AccountTable> = {
  readonly [Column in keyof Row<Table>]?: Row<Table>[Column] | readonly Row<Table>[Column][];
};

type Context = Pick<HandlerContext, "account" | "ownerId"> & { readonly transaction: Database };

/** The condition that rows match. */
function matches(match: object, context: Context) {
  const { account_id = accountIdOf(context), ...others }: Partial<Record<string, unknown>> = { ...match };
  return (eb: ExpressionBuilder<Tables, "mails">) =>
    eb.and(
      Object.entries({ account_id, ...others }).map(([column, value]) => {
        return eb(column as "name", value === null ? "is" : Array.isArray(value) ? "in" : "=", value as string);
      }),
    );
}

/** Reads columns of the rows that match, sorted by a column if one is given. */
export async function findRows<Table extends AccountTable, Column extends keyof Row<Table> & string>(
  table: Table,
  columns: readonly Column[],
  match: Match<Table>,
  context: Context,
  order?: keyof Row<Table> & string,
) {
  const rows = context.transaction.selectFrom(table as "mails").select(columns as readonly string[] as "name"[]);
  const matching = rows
    .where(matches(match, context))
    .$if(order !== undefined, (found) => found.orderBy(order as "id"));
  return (await matching.execute()) as unknown as Pick<Row<Table>, Column>[];
}

/** Reads columns of a row that matches, if there is one. */
export async function findRow<Table extends AccountTable, Column extends keyof Row<Table> & string>(
  table: Table,
  columns: readonly Column[],
  match: Match<Table>,
  context: Context,
) {
  return (await findRows(table, columns, match, context)).at(0);
}

/** Changes the rows that match. @returns their number */
export async function updateRows<Table extends AccountTable>(
  table: Table,
  changes: Partial<Row<Table>>,
  match: Match<Table>,
  context: Context,
): Promise<number> {
  const rows = context.transaction.updateTable(table as "mails").set(changes as Partial<Row<"mails">>);
  return Number((await rows.where(matches(match, context)).executeTakeFirst()).numUpdatedRows);
}

/** Deletes the rows that match. @returns their number */
export async function deleteRows<Table extends AccountTable>(table: Table, match: Match<Table>, context: Context) {
  const rows = context.transaction.deleteFrom(table as "mails").where(matches(match, context));
  return Number((await rows.executeTakeFirst()).numDeletedRows);
}

/** A column with the name of its table in front. */
type ColumnName = { [Table in AccountTable]: `${Table}.${keyof Tables[Table] & string}` }[AccountTable];

/** The condition that joins rows of the same account by a column of each: `innerJoin("users", sameAccount("users.id", "reviews.user_row"))`. */
export function sameAccount(column: ColumnName, other: ColumnName) {
  const accountOf = (name: ColumnName) => `${name.slice(0, name.indexOf("."))}.account_id`;
  return (join: JoinBuilder<never, never>): JoinBuilder<never, never> =>
    join.onRef(accountOf(column) as never, "=", accountOf(other) as never).onRef(column as never, "=", other as never);
}
