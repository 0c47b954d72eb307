import { type RawBuilder, sql } from "kysely";
import { batchRows } from "../../storage/batch.ts";
import { starCount } from "../../storage/rating-sql.ts";
import { bigintLiteral, textLiteral } from "../kernel/sql-literals.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { groupTarget } from "../reviews/rating-targets.ts";

/** What the own shelf of each product is called. */
const ownShelf = sql<string>`'p' || cast(batch.product_row as text)`;

const starScore = sql<number>`(stars_1 + 2 * stars_2 + 3 * stars_3 + 4 * stars_4 + 5 * stars_5)`;

const starColumns = [1, 2, 3, 4, 5].map((star) => `stars_${star}`);

/**
 * Moves products into a group, also out of others, or out of the groups that they are in: the memberships, the
 * reviews, and what these count. Many products take as many statements as one.
 * @param productRows products of the account, none of them in the group already
 */
export async function moveProducts(
  productRows: readonly number[],
  groupRow: number | undefined,
  context: HandlerContext,
): Promise<void> {
  if (productRows.length === 0) return;
  const { transaction, dialect } = context;
  const rows = productRows.map((row) => [row]);
  const moved = sql`${batchRows<{ product_row: number }>({ product_row: "integer" }, rows, dialect)}`;
  await addOwnShelves(moved, context);
  await leaveGroups(moved, context);
  if (groupRow !== undefined) await joinGroup(moved, groupRow, context);
  const shelf = groupRow === undefined ? ownShelf : textLiteral(groupTarget(groupRow));
  await sql`update reviews set shelf = ${shelf} from ${moved}
    where reviews.product_row = batch.product_row`.execute(transaction);
}

/** The bottom lines list a product by its own shelf, also one whose group alone has reviews. */
async function addOwnShelves(moved: RawBuilder<unknown>, context: HandlerContext): Promise<void> {
  const account = bigintLiteral(accountOf(context).id);
  await sql`
    insert into review_totals (account_id, shelf, product_row, stars_1, stars_2, stars_3, stars_4, stars_5,
      shown_reviews, shown_score, listed, updated_at)
    select ${account}, ${ownShelf}, batch.product_row, 0, 0, 0, 0, 0, 0, 0, 0, ${bigintLiteral(context.nowMs)}
    from ${moved} where true on conflict (shelf) do nothing`.execute(context.transaction);
  // Listed or not, as its new company says.
  await sql`
    insert into bottom_line_changes (account_id, shelf, reviews, score, due_at)
    select ${account}, ${ownShelf}, 0, 0, ${dueAt(context)} from ${moved}`.execute(context.transaction);
}

async function leaveGroups(moved: RawBuilder<unknown>, context: HandlerContext): Promise<void> {
  const shelf = sql<string>`'g' || cast(member.group_row as text)`;
  const from = sql`from ${moved} cross join group_products as member cross join review_totals as own
    where member.product_row = batch.product_row and own.shelf = ${ownShelf} group by member.group_row`;
  await countOnGroups({ shelf, by: -1, from }, context);
  await sql`delete from group_products
    where product_row in (select batch.product_row from ${moved})`.execute(context.transaction);
}

async function joinGroup(
  moved: RawBuilder<unknown>,
  groupRow: number,
  context: HandlerContext,
): Promise<void> {
  await sql`
    insert into group_products (account_id, group_row, product_row)
    select ${bigintLiteral(accountOf(context).id)}, ${bigintLiteral(groupRow)}, batch.product_row
    from ${moved}`.execute(context.transaction);
  const from = sql`from ${moved} cross join review_totals as own where own.shelf = ${ownShelf}`;
  await countOnGroups({ shelf: textLiteral(groupTarget(groupRow)), by: 1, from }, context);
}

interface Counted {
  readonly shelf: RawBuilder<string>;
  readonly by: 1 | -1;
  /** The rows of the products' own shelves as `own`, by group. */
  readonly from: RawBuilder<unknown>;
}

/** Adds what the products' own shelves count to their groups' (1), or takes it off (-1). */
async function countOnGroups({ shelf, by, from }: Counted, context: HandlerContext): Promise<void> {
  const account = bigintLiteral(accountOf(context).id);
  const sum = (value: RawBuilder<unknown>) => sql`${sql.lit(by)} * sum(${value})`;
  const sums = starColumns.map((column) => sum(sql.ref(`own.${column}`)));
  const added = starColumns.map((column) => {
    const name = sql.ref(column);
    return sql`${name} = review_totals.${name} + excluded.${name}`;
  });
  await sql`
    insert into review_totals (account_id, shelf, stars_1, stars_2, stars_3, stars_4, stars_5, shown_reviews,
      shown_score, listed, updated_at)
    select ${account}, ${shelf}, ${sql.join(sums)}, 0, 0, 0, ${bigintLiteral(context.nowMs)} ${from}
    on conflict (shelf) do update set ${sql.join(added)}`.execute(context.transaction);
  await sql`
    insert into bottom_line_changes (account_id, shelf, reviews, score, due_at)
    select ${account}, ${shelf}, ${sum(starCount)}, ${sum(starScore)}, ${dueAt(context)}
    ${from}`.execute(context.transaction);
}

function dueAt({ nowMs, bottomLinesDelayMs }: HandlerContext): RawBuilder<number> {
  return bigintLiteral(nowMs + bottomLinesDelayMs);
}
