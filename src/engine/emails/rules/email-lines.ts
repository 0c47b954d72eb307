import { sql } from "kysely";
import { batchOf } from "../../../storage/batch.ts";
import { createStatement } from "../../../storage/statement.ts";
import type { Row } from "../../../storage/tables.ts";
import type { HandlerContext } from "../../kernel/handler.ts";
import type { OrderLine } from "./line-facts.ts";

type Context = Pick<HandlerContext, "transaction" | "dialect">;

/** A mail that an order brings. */
export type RequestEmail = Pick<
  Row<"mails">,
  "id" | "email" | "email_type_id" | "order_row" | "product_row" | "created_at"
>;

/** A product that a mail is about. */
export interface EmailLine extends OrderLine {
  readonly mailId: number;
  readonly emailTypeId: number;
}

const emailColumns = {
  id: "integer",
  order_row: "integer",
  product_row: "integer",
  created_at: "integer",
} as const;
interface EmailColumns {
  id: number;
  order_row: number;
  product_row: number;
  created_at: number;
}

const selectLines = createStatement<
  { rows: string },
  Omit<OrderLine, "id" | "email"> & { readonly mailId: number }
>((slot, dialect) => {
  const columns = sql`batch.id as "mailId", orders.order_id, orders.order_date, products.id as product_row,
    products.product_id, products.blacklisted`;
  const batch = batchOf<EmailColumns>(emailColumns, slot("rows"), dialect);
  return sql`
    select ${columns} from ${batch} cross join orders cross join products
    where orders.id = batch.order_row and products.id = batch.product_row
    union all
    select ${columns} from ${batch} cross join orders cross join purchases cross join products
    where batch.product_row = 0 and orders.id = batch.order_row and purchases.order_row = batch.order_row
      and purchases.unit = 1 and products.id = purchases.product_row
      and purchases.created_at >= batch.created_at
      and not exists (select 1 from mails where mails.order_row = purchases.order_row
        and mails.product_row = purchases.product_row and mails.category = 'map')`;
});

/**
 * The products that mails of orders are about, in the order in which the store came to know them. One about a whole order
 * is about what came with it or later, and has no mail of its own.
 */
export async function readEmailLines(
  mails: readonly RequestEmail[],
  { transaction, dialect }: Context,
): Promise<EmailLine[]> {
  const rows = JSON.stringify(
    mails.map(({ id, order_row, product_row, created_at }) => [id, order_row, product_row, created_at]),
  );
  const mailOf = new Map(mails.map((mail) => [mail.id, mail]));
  const found = await selectLines(transaction, dialect, { rows });
  return found.rows
    .toSorted((one, other) => one.mailId - other.mailId || one.product_row - other.product_row)
    .flatMap((line, at) => {
      const mail = mailOf.get(line.mailId);
      return mail ? [{ ...line, id: at, email: mail.email, emailTypeId: mail.email_type_id }] : [];
    });
}
