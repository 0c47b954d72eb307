import { type RawBuilder, sql } from "kysely";
import type * as z from "zod";
import {
  categoriesOf,
  type contract,
  type EmailCategory,
  emailKeyOf,
  emailPage,
  type EmailRecord,
  type EmailSort,
  type EmailState,
  emailStates,
  invalidField,
} from "../../contract/index.ts";
import { sameAccount, selectAccountRows } from "../kernel/account-rows.ts";
import { findByPart, SearchedText } from "../kernel/lists/part-search.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { isAfter, readCursor, toPage } from "../kernel/lists/cursor.ts";
import { iso } from "../kernel/times.ts";

type Query = z.output<typeof contract.emails.list.input>;

export function selectEmails({ transaction }: Pick<HandlerContext, "transaction">) {
  return transaction
    .selectFrom("mails")
    .leftJoin("orders", sameAccount("orders.id", "mails.order_row"))
    .leftJoin("products", sameAccount("products.id", "mails.product_row"))
    .select([
      "mails.id",
      "mails.category",
      "mails.email",
      "mails.name",
      "mails.state",
      "mails.reason",
      "mails.created_at",
      "mails.due_at",
      "mails.sent_at",
      "mails.attempts",
      "mails.data",
      "orders.order_id",
      "products.product_id",
    ]);
}

export type EmailRow = Awaited<ReturnType<ReturnType<typeof selectEmails>["execute"]>>[number];

export function toRecord({ data, ...row }: EmailRow): EmailRecord {
  return {
    ...row,
    category: row.category as EmailCategory,
    state: row.state as EmailState,
    created_at: iso(row.created_at),
    due_at: iso(row.due_at),
    sent_at: row.sent_at === null ? null : iso(row.sent_at),
    is_test: (JSON.parse(data) as { is_test?: unknown }).is_test === true,
  };
}

const keys = { "mails.id": "id", "mails.due_at": "due_at", "mails.created_at": "created_at" } as const;

type Ordering = readonly [keyof typeof keys, "asc" | "desc"];

const orderings: Readonly<Record<EmailSort, Ordering>> = {
  newest: ["mails.id", "desc"],
  oldest: ["mails.id", "asc"],
  soonest: ["mails.due_at", "asc"],
  latest: ["mails.due_at", "desc"],
};

/** With a range of creation times or a product, indexes sort by creation time. With `since_id`, pages follow the ID. */
function orderingOf({ since_id, since_date, until_date, product_id }: Query, sort: EmailSort): Ordering {
  const [column, direction] = orderings[sort];
  const isByTime = since_date !== undefined || until_date !== undefined || product_id !== undefined;
  return [column === "mails.id" && since_id === undefined && isByTime ? "mails.created_at" : column, direction];
}

/**
 * Lists emails. Reads one page per state in index order and merges them, except for the emails of one address or order,
 * which are few.
 */
export async function listEmails(query: Query, context: HandlerContext) {
  const sort = query.sort ?? (query.since_id === undefined ? "newest" : "oldest");
  const size = Math.min(query.count ?? emailPage.default, emailPage.max);
  if (query.search !== undefined) {
    const list = { searched: new SearchedText(query.search), sort, count: size + 1 };
    return toPage(await searchEmails(query, list, context), size, ({ id }) => [id, id]);
  }
  const isFew = isOfFewEmails(query);
  if (isFew || query.product_id !== undefined) {
    const select = isFew ? selectFewEmails : selectEmailsOfProduct;
    const [column] = isFew ? orderings[sort] : orderingOf(query, sort);
    const found = await select(query, { sort, count: size + 1 }, context).execute();
    return toPage(found, size, (row) => [row[keys[column]], row.id]);
  }
  const [column, direction] = orderingOf(query, sort);
  const states = query.state ?? (column === "mails.id" ? [undefined] : emailStates);
  const rows: EmailRow[] = [];
  for (const state of states) {
    rows.push(...(await selectEmailPage(query, { state, sort, count: size + 1 }, context).execute()));
  }
  const sign = direction === "asc" ? 1 : -1;
  const key = keys[column];
  const sorted = rows.toSorted((a, b) => sign * (a[key] - b[key] || a.id - b.id));
  return toPage(sorted, size, (row) => [row[key], row.id]);
}

export const isOfFewEmails = ({ email, order_id }: Pick<Query, "email" | "order_id">) =>
  email !== undefined || order_id !== undefined;

/** Lists the emails that contain a text, by ID. */
async function searchEmails(
  query: Query,
  { searched, sort, count }: Pick<Page, "sort" | "count"> & { readonly searched: SearchedText },
  context: HandlerContext,
): Promise<readonly EmailRow[]> {
  const [column, direction] = orderings[sort];
  if (column !== "mails.id") throw invalidField("sort", "must be newest or oldest with search");
  const isUp = direction === "asc";
  if (isOfFewEmails(query)) {
    const rows = await selectFewEmails(query, { sort, count: Number.MAX_SAFE_INTEGER }, context).execute();
    return rows.filter((row) => searched.isIn([row.email, row.name, row.order_id].join("\n"))).slice(0, count);
  }
  const sinceId = isUp && query.since_id !== undefined ? query.since_id - 1 : undefined;
  const afterId = query.page_info === undefined ? sinceId : readCursor(query.page_info, 2)[1];
  const found: EmailRow[] = [];
  const course = { direction: isUp ? "up" : "down", afterId, count } as const;
  for await (const ids of findByPart("mails", searched, course, context)) {
    const rows = await selectEmailsByState(query, context).where("mails.id", "in", ids).execute();
    found.push(...rows.toSorted((a, b) => (isUp ? a.id - b.id : b.id - a.id)));
    if (found.length >= count) break;
  }
  return found.slice(0, count);
}

/** Selects emails for which the product and the state are only tested. */
function selectEmailsByState(query: Query, context: HandlerContext) {
  const { product_id, state } = query;
  const productRow = context.dialect.withoutIndex(sql.ref<number>("mails.product_row"));
  return selectListed(query, context)
    .$if(product_id !== undefined, (rows) => rows.where(productRow, "=", selectProductRow(query, context)))
    .$if(state !== undefined, (rows) => rows.where(sql`coalesce(mails.state, '')`, "in", state ?? []));
}

interface Page {
  readonly state: EmailState | undefined;
  readonly sort: EmailSort;
  readonly count: number;
}

/** Applies the filters that all pages share. */
function selectListed(query: Query, context: HandlerContext) {
  const { category, email_type_id, since_id, since_date, until_date } = query;
  return selectEmails(context)
    .where("mails.account_id", "=", accountOf(context).id)
    .$if(category !== undefined, (rows) => rows.where("mails.category", "=", category ?? ""))
    .$if(email_type_id !== undefined, (rows) =>
      rows.where((eb) => eb.or(categoriesOf(email_type_id ?? 0).map((one) => eb("mails.category", "=", one)))),
    )
    .$if(since_id !== undefined, (rows) => rows.where("mails.id", ">=", since_id ?? 0))
    .$if(since_date !== undefined, (rows) => rows.where("mails.created_at", ">=", Date.parse(since_date ?? "")))
    .$if(until_date !== undefined, (rows) => rows.where("mails.created_at", "<", Date.parse(until_date ?? "")));
}

/** The condition for emails after the `page_info` of the previous page. */
function isOnNextPage({ page_info = "" }: Query, column: RawBuilder<unknown>, direction: "asc" | "desc") {
  return isAfter([column, sql.ref("mails.id")], readCursor(page_info, 2), direction);
}

/** Selects a page of all emails, or of those in one state. */
function selectEmailPage(query: Query, { state, sort, count }: Page, context: HandlerContext) {
  const [column, direction] = orderingOf(query, sort);
  return selectListed(query, context)
    .$if(state !== undefined, (rows) => rows.where("mails.state", "=", state ?? ""))
    .$if(query.page_info !== undefined, (rows) => rows.where(isOnNextPage(query, sql.ref(column), direction)))
    .orderBy(column, direction)
    .orderBy("mails.id", direction)
    .limit(count);
}

/** Selects a page of the emails about a product. */
function selectEmailsOfProduct(query: Query, { sort, count }: Pick<Page, "sort" | "count">, context: HandlerContext) {
  const { state } = query;
  const [name, direction] = orderingOf(query, sort);
  const column = name === "mails.created_at" ? sql.ref(name) : sql`coalesce(${sql.ref(name)}, 0)`;
  return selectListed(query, context)
    .where("mails.product_row", "=", selectProductRow(query, context))
    .$if(state !== undefined, (rows) =>
      rows.where(context.dialect.withoutIndex(sql.ref("mails.state")), "in", state ?? []),
    )
    .$if(query.page_info !== undefined, (rows) => rows.where(isOnNextPage(query, column, direction)))
    .orderBy(column, direction)
    .orderBy("mails.id", direction)
    .limit(count);
}

function selectProductRow({ product_id }: Query, context: HandlerContext) {
  return selectAccountRows("products", accountOf(context).id, context.transaction)
    .select("products.id")
    .where("products.product_id", "=", product_id ?? "");
}

/** Selects a page of the emails to an address or for an order. `coalesce` prevents use of the state and due-date indexes. */
function selectFewEmails(query: Query, { sort, count }: Pick<Page, "sort" | "count">, context: HandlerContext) {
  const { order_id, email } = query;
  const [name, direction] = orderings[sort];
  const column = sql`coalesce(${sql.ref(name)}, 0)`;
  const order = selectAccountRows("orders", accountOf(context).id, context.transaction)
    .select("orders.id")
    .where("orders.order_id", "=", order_id ?? "");
  return selectEmailsByState(query, context)
    .$if(order_id !== undefined, (rows) => rows.where("mails.order_row", "in", order))
    .$if(email !== undefined, (rows) => rows.where("mails.email_key", "=", emailKeyOf(email ?? "")))
    .$if(query.page_info !== undefined, (rows) => rows.where(isOnNextPage(query, column, direction)))
    .orderBy(column, direction)
    .orderBy("mails.id", direction)
    .limit(count);
}
