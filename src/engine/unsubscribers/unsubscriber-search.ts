import { type RawBuilder, sql } from "kysely";
import type * as z from "zod";
import { type contract, emailKeyOf, emailTypes, invalidField, searchPage } from "../../contract/index.ts";
import { requireFeature } from "../accounts/account-settings.ts";
import { readCursor, writeCursor } from "../kernel/lists/cursor.ts";
import { findPageByPart } from "../kernel/lists/part-search.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { iso } from "../kernel/times.ts";

type Operation = typeof contract.unsubscribers.search;
type Query = z.output<Operation["input"]>;

interface Found {
  readonly id: number;
  readonly user_email: string;
  readonly email_type_id: number;
  readonly unsubscirbed_by_name: string;
  readonly created_at: number;
}

/** Lists unsubscribed addresses by creation time: a sorted page per email type, merged. */
export async function searchUnsubscribers(
  query: Query,
  context: HandlerContext,
): Promise<z.output<Operation["output"]>> {
  await requireFeature(context, "unsubscribers");
  if (query.search !== undefined) return searchByPart({ ...query, search: query.search }, context);
  const size = Math.min(query.limit ?? searchPage.default, searchPage.max);
  if (size === 0) throw invalidField("limit", "must be at least 1");
  // One more, to find out whether there is another page.
  const { rows: found } = await selectFound(query, size + 1, context).execute(context.transaction);
  const [page, last] = [found.slice(0, size), found[size - 1]];
  const next_page_info = found.length > size && last ? writeCursor([last.created_at, last.id]) : null;
  return {
    unsubscribers: page.map((row) => Object.assign(row, { created_at: iso(row.created_at) })),
    pagination: { next_page_info },
  };
}

/** Lists the addresses that contain a text, by ID. */
async function searchByPart(query: Query & { readonly search: string }, context: HandlerContext) {
  const { email_type_id, page_info: _page, ...filters } = query;
  const type = email_type_id === undefined ? sql`` : sql`and email_type_id = ${email_type_id}`;
  const conditions = sql.join(listConditions(filters, context), sql` and `);
  const { rows, pagination } = await findPageByPart("unsubscribers", query, context, async (ids) => {
    const found =
      await sql<Found>`select id, email as user_email, email_type_id, by_name as unsubscirbed_by_name, created_at
      from unsubscribers where id in (${sql.join(ids)}) and ${conditions} ${type}`.execute(context.transaction);
    return found.rows;
  });
  return { unsubscribers: rows.map((row) => Object.assign(row, { created_at: iso(row.created_at) })), pagination };
}

function selectFound(query: Query, limit: number, context: HandlerContext) {
  const types = query.email_type_id === undefined ? Object.keys(emailTypes).map(Number) : [query.email_type_id];
  const direction = query.sort === "oldest" ? sql`asc` : sql`desc`;
  const conditions = listConditions(query, context);
  const pages = types.map(
    (type) => sql`select * from (
      select id, email, email_type_id, by_name, created_at from unsubscribers
      where ${sql.join([...conditions, sql`email_type_id = ${type}`], sql` and `)}
      order by created_at ${direction}, id ${direction} limit ${limit}) as part`,
  );
  return sql<Found>`select id, email as user_email, email_type_id, by_name as unsubscirbed_by_name, created_at
    from (${sql.join(pages, sql` union all `)}) as merged
    order by created_at ${direction}, id ${direction} limit ${limit}`;
}

function listConditions(query: Query, context: HandlerContext): readonly RawBuilder<boolean>[] {
  const { email, since_date, until_date, page_info, sort } = query;
  const conditions = [sql<boolean>`account_id = ${accountOf(context).id}`];
  if (email !== undefined) conditions.push(sql`email_key = ${emailKeyOf(email)}`);
  if (since_date !== undefined) conditions.push(sql`created_at >= ${Date.parse(since_date)}`);
  if (until_date !== undefined) conditions.push(sql`created_at < ${Date.parse(until_date)}`);
  if (page_info !== undefined) {
    const [createdAt, id] = readCursor(page_info, 2);
    conditions.push(sql`(created_at, id) ${sort === "oldest" ? sql`>` : sql`<`} (${createdAt}, ${id})`);
  }
  return conditions;
}
