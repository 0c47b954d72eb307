import { sql } from "kysely";
import { batchOf } from "../../../storage/batch.ts";
import { createStatement } from "../../../storage/statement.ts";
import type { Row } from "../../../storage/tables.ts";
import type { HandlerContext } from "../../kernel/handler.ts";
import { isSiteRequest, requestsWithoutOrder } from "../../../contract/index.ts";
import { type OrderLine, storeRow } from "./line-facts.ts";
import { updateRows } from "../../kernel/account-rows.ts";
import { wholeOrderRow } from "../../orders/order-emails.ts";
import type { LineRuleName } from "./line-rules.ts";

type Context = Pick<HandlerContext, "transaction" | "dialect">;

/** A review request for an order. */
export type RequestEmail = Pick<
  Row<"mails">,
  "id" | "category" | "email" | "email_type_id" | "order_row" | "product_row" | "created_at" | "data"
>;

/**
 * Whether an email counts toward the limit per customer. The addition prevents the use of the index that finds emails by their
 * order.
 */
export const isRequest = sql<boolean>`(mails.order_row + 0 is not null
  or mails.category in (${sql.join(requestsWithoutOrder.map((category) => sql.lit(category)))}))`;

/** A product that an email is about. */
export interface EmailLine extends OrderLine {
  readonly mailId: number;
  readonly category: string;
}

const emailColumns = { id: "integer", order_row: "integer", product_row: "integer", created_at: "integer" } as const;

const selectLines = createStatement<
  { accountId: number; rows: string },
  Omit<OrderLine, "id" | "email"> & { readonly mailId: number }
>((slot, dialect) => {
  const columns = sql`batch.id as "mailId", orders.order_id, orders.order_date, products.id as product_row,
    products.product_id, products.blacklisted`;
  const accountId = slot("accountId");
  const batch = batchOf(emailColumns, slot("rows"), dialect);
  return sql`
    select ${columns} from ${batch} cross join orders cross join purchases cross join products
    where orders.account_id = ${accountId} and orders.id = batch.order_row
      and purchases.account_id = ${accountId} and purchases.order_row = batch.order_row
      and purchases.unit = 1 and purchases.product_row = batch.product_row
      and products.account_id = ${accountId} and products.id = batch.product_row
    union all
    select ${columns} from ${batch} cross join orders cross join purchases cross join products
    where batch.product_row = 0 and orders.account_id = ${accountId} and orders.id = batch.order_row
      and purchases.account_id = ${accountId} and purchases.order_row = batch.order_row
      and purchases.unit = 1 and products.account_id = ${accountId} and products.id = purchases.product_row
      and purchases.created_at >= batch.created_at
      and (batch.created_at = 0 or not exists (select 1 from mails where mails.account_id = ${accountId}
        and mails.order_row = purchases.order_row and mails.product_row = purchases.product_row and mails.category = 'map'))`;
});

/** One line per email: about the store. */
const selectStoreLines = createStatement<
  { accountId: number; rows: string },
  Omit<OrderLine, "id" | "email"> & { readonly mailId: number }
>(
  (slot, dialect) => sql`
    select batch.id as "mailId", orders.order_id, orders.order_date, ${sql.lit(storeRow)} as product_row,
      '' as product_id, 0 as blacklisted
    from ${batchOf(emailColumns, slot("rows"), dialect)} cross join orders
    where orders.account_id = ${slot("accountId")} and orders.id = batch.order_row`,
);

/**
 * Reads the products that review requests of an account are about, ordered by email and then by when the account first had
 * the product. Products that were removed from the order are omitted. An email about an entire order covers the products
 * added with or after it that have no email of their own; one of a campaign, the products that its data names. A request to
 * review the store has one line, about the store.
 */
export async function readEmailLines(
  emails: readonly RequestEmail[],
  accountId: number,
  { transaction, dialect }: Context,
): Promise<EmailLine[]> {
  const onlyOf = new Map(emails.map((email) => [email.id, readRequestData(email).only]));
  const emailById = new Map(emails.map((email) => [email.id, email]));
  const selected: Awaited<ReturnType<typeof selectLines>>["rows"][number][] = [];
  for (const [select, isOfStore] of [
    [selectLines, false],
    [selectStoreLines, true],
  ] as const) {
    const chosen = emails.filter(
      ({ category, order_row }) => order_row !== null && isSiteRequest(category) === isOfStore,
    );
    if (chosen.length === 0) continue;
    const rows = chosen.map(({ id, order_row, product_row, created_at }) => [
      id,
      order_row,
      product_row,
      onlyOf.get(id) === undefined ? created_at : 0,
    ]);
    selected.push(...(await select(transaction, dialect, { accountId, rows: JSON.stringify(rows) })).rows);
  }
  return [...selected, ...emails.filter(({ order_row }) => order_row === null).map(toLineWithoutOrder)]
    .toSorted((a, b) => a.mailId - b.mailId || a.product_row - b.product_row)
    .flatMap((line, index) => {
      const email = emailById.get(line.mailId);
      if (!email || onlyOf.get(line.mailId)?.includes(line.product_row) === false) return [];
      return [{ ...line, id: index, email: email.email, category: email.category }];
    });
}

/** A request without an order is about the store. Nobody can cancel the emails of an order without an ID. */
function toLineWithoutOrder({ id: mailId, created_at: order_date }: RequestEmail) {
  return { mailId, order_id: "", order_date, product_row: storeRow, product_id: "", blacklisted: 0 };
}

/** The products that an email about an entire order does not mention: the rule by product row. */
export type DroppedProducts = Readonly<Record<number, LineRuleName>>;

type Email = Pick<Row<"mails">, "id" | "data">;

/** The data of an email about an order. */
interface RequestData {
  readonly dropped?: DroppedProducts;
  /** The products that an email of a campaign is about, by row. */
  readonly only?: readonly number[];
}

export function readRequestData({ data }: Pick<Email, "data">): RequestData {
  return JSON.parse(data) as RequestData;
}

/** Reads the products that were dropped from an email about an entire order. */
export function readDroppedProducts(email: Pick<Email, "data">): DroppedProducts {
  return readRequestData(email).dropped ?? {};
}

/** Stores the products that are dropped from emails about entire orders, for later explanations. */
export async function saveDroppedProducts(
  emails: readonly (Email & Pick<Row<"mails">, "account_id" | "product_row">)[],
  decisions: ReadonlyMap<number, { readonly dropped?: DroppedProducts | undefined }>,
  { transaction }: Pick<HandlerContext, "transaction">,
): Promise<void> {
  for (const email of emails) {
    const dropped = decisions.get(email.id)?.dropped;
    if (email.product_row !== wholeOrderRow || dropped === undefined) continue;
    const { only } = readRequestData(email);
    const isEmpty = Object.keys(dropped).length === 0;
    const data = JSON.stringify({ ...(only && { only }), ...(!isEmpty && { dropped }) });
    if (data === email.data) continue;
    await updateRows("mails", { data }, { account_id: email.account_id, id: email.id }, { transaction });
  }
}
