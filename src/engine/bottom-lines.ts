import { sql } from "kysely";
import type { z } from "zod";
import { bottomLinePage, type contract } from "../contract/index.ts";
import { type Account, accountOf, type HandlerContext } from "./handler.ts";
import { averageOf, readShelf, readStars, sumStars } from "./shelves.ts";

type Query = z.output<typeof contract.reviews.bottomLines.input>;
type Listed = z.output<typeof contract.reviews.bottomLines.output>;
type Context = Pick<HandlerContext, "transaction" | "nowMs"> & { readonly account?: Account };

/** Whether the bottom lines of all products have something to show that they do not show yet. */
export async function hasDueChanges({ transaction, nowMs, account }: Context): Promise<boolean> {
  const due = await transaction
    .selectFrom("bottom_line_changes")
    .select("id")
    .where("account_id", "=", account?.id ?? 0)
    .where("due_at", "<=", nowMs)
    .limit(1)
    .executeTakeFirst();
  return due !== undefined;
}

/** Shows what is due: adds it to what the shelves show, and lists the products whose bottom line there is. */
export async function showDueChanges(context: Context): Promise<void> {
  const { transaction, nowMs } = context;
  const id = context.account?.id ?? 0;
  const due = transaction
    .selectFrom("bottom_line_changes")
    .where("account_id", "=", id)
    .where("due_at", "<=", nowMs);
  const shelves = await due.select("shelf").distinct().execute();
  await transaction
    .updateTable("review_totals")
    .from(
      due
        .select(({ fn }) => [
          "shelf",
          fn.sum<number>("reviews").as("reviews"),
          fn.sum<number>("score").as("score"),
          fn.max("due_at").as("due_at"),
        ])
        .groupBy("shelf")
        .as("due"),
    )
    .whereRef("review_totals.shelf", "=", "due.shelf")
    .set((eb) => ({
      shown_reviews: eb("review_totals.shown_reviews", "+", eb.ref("due.reviews")),
      shown_score: eb("review_totals.shown_score", "+", eb.ref("due.score")),
      updated_at: eb.ref("due.due_at"),
    }))
    .execute();
  await transaction
    .deleteFrom("bottom_line_changes")
    .where("account_id", "=", id)
    .where("due_at", "<=", nowMs)
    .execute();
  for (const { shelf } of shelves) await listProductsOf(shelf, context);
}

/** A product is listed while it has reviews, or its group has. */
async function listProductsOf(shelf: string, { transaction }: Context): Promise<void> {
  const row = Number(shelf.slice(1));
  const members = shelf.startsWith("g")
    ? sql`select product_row from group_products where group_row = ${row}`
    : sql`select cast(${row} as bigint) as product_row`;
  await sql`
    update review_totals set listed = case when shown_reviews > 0 or exists (
      select 1 from group_products as member
      inner join review_totals as grouped on grouped.shelf = 'g' || cast(member.group_row as text)
      where member.product_row = review_totals.product_row and grouped.shown_reviews > 0
    ) then 1 else 0 end
    where shelf in (select 'p' || cast(product_row as text) from (${members}) as members)
  `.execute(transaction);
}

/**
 * Lists the bottom lines of all products, an hour late.
 * Source: spec "Reviews": a grouped product is there twice, its group's first.
 * Assumed: in the order of the products; `count` counts products and is at most 100; without `count` and `page` it is
 * the first 10; `since_id` is a product's id, `since_date` the day from which its bottom line changed; an account
 * without any gets `{}`, a page past the last an empty list; the store's own reviews are not among them.
 */
export async function listBottomLines(query: Query, context: HandlerContext): Promise<Listed> {
  const count = Math.min(query.count ?? bottomLinePage.default, bottomLinePage.max);
  const page = Math.max(query.page ?? 1, 1);
  const found = await selectBottomLines({ ...query, count, page }, context).execute();
  if (found.length === 0 && page === 1 && query.since_id === undefined && query.since_date === undefined) {
    return {};
  }
  const bottomlines = found.flatMap((row) => {
    const own = { domain_key: row.product_id, ...toBottomLine(row.reviews, row.score) };
    if (row.group_row === null) return [own];
    return [
      { domain_key: row.product_id, ...toBottomLine(row.group_reviews ?? 0, row.group_score ?? 0) },
      own,
    ];
  });
  return { bottomlines, page: String(page), per_page: String(count) };
}

function toBottomLine(reviews: number, score: number) {
  return { product_score: averageOf({ reviews, score }), total_reviews: reviews };
}

/** The page's query: its products by the index `review_totals_listed`, then what is known of each. */
export function selectBottomLines(
  { count, page, since_id, since_date }: Query & { readonly count: number; readonly page: number },
  context: HandlerContext,
) {
  let listed = context.transaction
    .selectFrom("review_totals")
    .select("product_row")
    .where("account_id", "=", accountOf(context).id)
    .where("listed", "=", sql.lit(1))
    .orderBy("product_row")
    .limit(count)
    .offset(Math.min((page - 1) * count, Number.MAX_SAFE_INTEGER));
  if (since_id !== undefined) listed = listed.where("product_row", ">=", since_id);
  if (since_date !== undefined) listed = listed.where("updated_at", ">=", Date.parse(since_date));
  return context.transaction
    .selectFrom(listed.as("listed"))
    .innerJoin("products", "products.id", "listed.product_row")
    .innerJoin("review_totals as own", (join) =>
      join.on(sql<boolean>`own.shelf = 'p' || cast(listed.product_row as text)`),
    )
    .leftJoin("group_products", "group_products.product_row", "listed.product_row")
    .leftJoin("review_totals as grouped", (join) =>
      join.on(sql<boolean>`grouped.shelf = 'g' || cast(group_products.group_row as text)`),
    )
    .select([
      "products.product_id",
      "own.shown_reviews as reviews",
      "own.shown_score as score",
      "group_products.group_row",
      "grouped.shown_reviews as group_reviews",
      "grouped.shown_score as group_score",
    ])
    .orderBy("listed.product_row");
}

/** Assumed: a product that is not there has no reviews, as its page asks before the first; this one is not late. */
export async function readBottomLine(productId: string, context: HandlerContext) {
  const product = await context.transaction
    .selectFrom("products")
    .select("id")
    .where("account_id", "=", accountOf(context).id)
    .where("product_id", "=", productId)
    .executeTakeFirst();
  if (!product) return { average_score: 0, total_reviews: 0 };
  const sums = sumStars(await readStars(await readShelf(product.id, context), context));
  return { average_score: averageOf(sums), total_reviews: sums.reviews };
}
