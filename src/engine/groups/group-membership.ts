import { type RawBuilder, sql } from "kysely";
import { batchRows, constantInBatch } from "../../storage/batch.ts";
import { bigintLiteral, textLiteral } from "../kernel/sql-literals.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { recordBottomLines } from "../reviews/bottom-line-changes.ts";
import { findGroups, groupTarget, productTarget } from "../reviews/rating-targets.ts";

const ownTarget = sql<string>`'p' || cast(batch.product_row as text)`;

const starColumns = [1, 2, 3, 4, 5].map((star) => `stars_${star}`);

/**
 * Moves products into a group, or out of their groups if `groupRow` is undefined: updates memberships, the rating
 * targets of reviews, and totals. The number of statements does not depend on the number of products.
 * @param productRows products of the account, none of which are in the group already
 */
export async function moveProducts(
  productRows: readonly number[],
  groupRow: number | undefined,
  context: HandlerContext,
): Promise<void> {
  if (productRows.length === 0) return;
  const { transaction, dialect } = context;
  const account = bigintLiteral(accountOf(context).id);
  const rows = productRows.map((row) => [row]);
  const moved = sql`${batchRows<{ product_row: number }>({ product_row: "integer" }, rows, dialect)}`;
  const left = await findGroups(productRows, accountOf(context).id, context);
  const groupRows = new Set([...left.values(), ...(groupRow === undefined ? [] : [groupRow])]);
  const targets = [...productRows.map(productTarget), ...Array.from(groupRows, groupTarget)];
  await recordBottomLines(targets, accountOf(context).id, context);
  await addOwnTargets(moved, context);
  await leaveGroups(moved, context);
  if (groupRow !== undefined) await joinGroup(moved, groupRow, context);
  const target = groupRow === undefined ? ownTarget : textLiteral(groupTarget(groupRow));
  await sql`update reviews set rating_target = ${target} from ${moved}
    where reviews.account_id = ${constantInBatch(account, "product_row")}
      and reviews.product_row = batch.product_row`.execute(transaction);
}

/**
 * Adds totals for products without reviews. The bottom lines list products by their own target, even if only the group has
 * reviews.
 */
async function addOwnTargets(moved: RawBuilder<unknown>, context: HandlerContext): Promise<void> {
  await sql`
    insert into review_totals (account_id, rating_target, product_row, stars_1, stars_2, stars_3, stars_4, stars_5, updated_at)
    select ${bigintLiteral(accountOf(context).id)}, ${ownTarget}, batch.product_row, 0, 0, 0, 0, 0,
      ${bigintLiteral(context.nowMs)}
    from ${moved} where true
    on conflict (account_id, rating_target) do update set updated_at = excluded.updated_at`.execute(
    context.transaction,
  );
}

async function leaveGroups(moved: RawBuilder<unknown>, context: HandlerContext): Promise<void> {
  const account = bigintLiteral(accountOf(context).id);
  const target = sql<string>`'g' || cast(member.group_row as text)`;
  const from = sql`from ${moved} cross join group_products as member cross join review_totals as own
    where member.account_id = ${account} and member.product_row = batch.product_row
      and own.account_id = ${account} and own.rating_target = ${ownTarget} group by member.group_row`;
  await countForGroups({ target, by: -1, from }, context);
  await sql`delete from group_products where account_id = ${account}
      and product_row in (select batch.product_row from ${moved})`.execute(context.transaction);
}

async function joinGroup(moved: RawBuilder<unknown>, groupRow: number, context: HandlerContext): Promise<void> {
  const account = bigintLiteral(accountOf(context).id);
  await sql`
    insert into group_products (account_id, group_row, product_row)
    select ${account}, ${bigintLiteral(groupRow)}, batch.product_row
    from ${moved}`.execute(context.transaction);
  const from = sql`from ${moved} cross join review_totals as own
    where own.account_id = ${account} and own.rating_target = ${ownTarget}`;
  await countForGroups({ target: textLiteral(groupTarget(groupRow)), by: 1, from }, context);
}

interface GroupChange {
  /** The rating target of the group. */
  readonly target: RawBuilder<string>;
  readonly by: 1 | -1;
  /** The totals of the products as `own`, by group. */
  readonly from: RawBuilder<unknown>;
}

/** Adds the totals of products to their groups (1), or subtracts them (-1). */
async function countForGroups({ target, by, from }: GroupChange, context: HandlerContext): Promise<void> {
  const account = bigintLiteral(accountOf(context).id);
  const sum = (value: RawBuilder<unknown>) => sql`${sql.lit(by)} * sum(${value})`;
  const sums = starColumns.map((column) => sum(sql.ref(`own.${column}`)));
  const added = starColumns.map((column) => {
    const name = sql.ref(column);
    return sql`${name} = review_totals.${name} + excluded.${name}`;
  });
  await sql`
    insert into review_totals (account_id, rating_target, stars_1, stars_2, stars_3, stars_4, stars_5, updated_at)
    select ${account}, ${target}, ${sql.join(sums)}, ${bigintLiteral(context.nowMs)} ${from}
    on conflict (account_id, rating_target) do update set ${sql.join(added)}, updated_at = excluded.updated_at`.execute(
    context.transaction,
  );
}
