import { type RawBuilder, sql } from "kysely";
import { batchOf, type BatchColumns } from "../../storage/batch.ts";
import { createDeferredStatement } from "../../storage/statement.ts";
import { readBottomLinesDelay } from "../accounts/account-settings.ts";
import { deleteAccountRows } from "../kernel/account-rows.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { bottomLinesDelay } from "../../contract/index.ts";

/**
 * The bottom lines of all products are those of an earlier time. Every change of a total or of a group is recorded;
 * `review_totals` contains a prefix of the recorded changes, so it always has the totals of one point in time. A reader
 * first applies or reverts changes until it has the totals as of its own delay.
 */

/** What recording a change needs. */
type Recording = Pick<HandlerContext, "transaction" | "dialect" | "nowMs">;

/** A change of the total of a product or a group. */
interface ChangeColumns {
  readonly target: string;
  readonly reviews: number;
  readonly score: number;
}

const changeColumns: BatchColumns<ChangeColumns> = { target: "text", reviews: "integer", score: "integer" };

/** Records changes of an account's totals. */
export async function recordChanges(
  changes: readonly ChangeColumns[],
  accountId: number,
  context: Recording,
): Promise<void> {
  if (changes.length === 0) return;
  const { transaction, dialect, nowMs } = context;
  await prepareToRecord(accountId, context);
  const rows = JSON.stringify(changes.map(({ target, reviews, score }) => [target, reviews, score]));
  await insertChanges(transaction, dialect, { accountId, nowMs, rows });
}

const insertChanges = createDeferredStatement<{ accountId: number; nowMs: number; rows: string }>(
  (slot, dialect) => sql`
    insert into bottom_line_changes (account_id, rating_target, reviews, score, applied, changed_at)
    select cast(${slot("accountId")} as bigint), batch.target, batch.reviews, batch.score, 0,
      cast(${slot("nowMs")} as bigint)
    from ${batchOf(changeColumns, slot("rows"), dialect)} where true
    ${dialect.inBatchOrder}`,
);

/** Must be called before changes are recorded. No recorded change is later than the next one, even if a clock was wrong. */
export async function prepareToRecord(accountId: number, { transaction, dialect, nowMs }: Recording): Promise<void> {
  await limitTimes(transaction, dialect, { accountId, nowMs });
}

const limitTimes = createDeferredStatement<{ accountId: number; nowMs: number }>(
  (slot) => sql`
    update bottom_line_changes set changed_at = ${slot("nowMs")}
    where account_id = ${slot("accountId")} and applied in (0, 1) and changed_at > ${slot("nowMs")}`,
);

/** Later than any change. */
const endOfTime = 8.64e15;

/** Differences between the clocks of processes. Applied changes are not reverted for less. */
const clockToleranceMs = 10_000;

/** The time of the totals to show. Without a delay, all changes count, even if another process's clock is ahead. */
async function findCutoff(context: HandlerContext): Promise<number> {
  const delayMs = await readBottomLinesDelay(context, accountOf(context).id);
  return delayMs === 0 ? endOfTime : context.nowMs - delayMs;
}

/** Whether any changes have to be applied to the bottom lines of all products, or reverted. */
export async function hasDueChanges(context: HandlerContext): Promise<boolean> {
  const cutoff = await findCutoff(context);
  const exists = (condition: RawBuilder<unknown>) =>
    sql`exists (select 1 from bottom_line_changes where account_id = ${accountOf(context).id} and ${condition})`;
  const found = await context.transaction
    .selectNoFrom(
      sql<number>`case when ${exists(isUnapplied(cutoff))} or ${exists(isUndue(cutoff + clockToleranceMs))}
        then 1 else 0 end`.as("is_due"),
    )
    .executeTakeFirst();
  return found?.is_due === 1;
}

const isUnapplied = (cutoff: number) => sql`applied = 0 and changed_at <= ${cutoff}`;
const isUndue = (cutoff: number) => sql`applied = 1 and changed_at > ${cutoff}`;

/** Applies and reverts changes to the totals that are shown, updates which products are listed, and deletes old changes. */
export async function applyDueChanges(context: HandlerContext): Promise<void> {
  const { transaction, nowMs } = context;
  const cutoff = await findCutoff(context);
  await moveTotals({ isRevert: true, changes: isUndue(cutoff) }, context);
  await moveTotals({ isRevert: false, changes: isUnapplied(cutoff) }, context);
  await deleteAccountRows("bottom_line_changes", accountOf(context).id, transaction)
    .where("applied", "=", 1)
    .where("changed_at", "<", nowMs - bottomLinesDelay.maxMs)
    .execute();
}

async function moveTotals(
  { isRevert, changes }: { readonly isRevert: boolean; readonly changes: RawBuilder<unknown> },
  context: HandlerContext,
): Promise<void> {
  const { transaction } = context;
  const { id: accountId } = accountOf(context);
  const isIncluded = sql`account_id = ${accountId} and ${changes}`;
  const [sign, group, findMove] = isRevert
    ? [sql.lit(-1), sql.ref("move.left_group"), sql`min`]
    : [sql.lit(1), sql.ref("move.joined_group"), sql`max`];
  const due = sql`select rating_target, sum(reviews) as reviews, sum(score) as score, max(changed_at) as changed_at,
    ${findMove}(case when joined_group is not null then id end) as move_id
    from bottom_line_changes where ${isIncluded} group by rating_target`;
  // The second condition on targets keeps SQLite from reading all totals of the account.
  await sql`
    with due as (${due})
    update review_totals set shown_reviews = shown_reviews + ${sign} * due.reviews,
      shown_score = shown_score + ${sign} * due.score, shown_group = coalesce(${group}, shown_group),
      updated_at = case when due.changed_at > updated_at then due.changed_at else updated_at end
    from due left join bottom_line_changes as move
      on move.account_id = ${accountId} and move.id = due.move_id
    where review_totals.account_id = ${accountId} and review_totals.rating_target = due.rating_target
      and review_totals.rating_target in (select rating_target from due)`.execute(transaction);
  await updateListedProducts(due, context);
  await sql`update bottom_line_changes set applied = 1 - applied where ${isIncluded}`.execute(transaction);
}

/** Updates which products are listed: those with reviews, or in a group with reviews. A change to a group affects all its products. */
async function updateListedProducts(due: RawBuilder<unknown>, context: HandlerContext): Promise<void> {
  const { id: accountId } = accountOf(context);
  await sql`
    with due as (${due}), due_products as (
      select rating_target, changed_at from due where rating_target like 'p%'
      union all
      select member.rating_target, due.changed_at from due cross join review_totals as member
      where due.rating_target like 'g%' and member.account_id = ${accountId} and member.shown_group > 0
        and member.shown_group = cast(substr(due.rating_target, 2) as bigint)
    ), due_last as (select rating_target, max(changed_at) as changed_at from due_products group by rating_target)
    update review_totals set
      updated_at = case when due_last.changed_at > updated_at then due_last.changed_at else updated_at end,
      listed = case when shown_reviews > 0 or exists (
        select 1 from review_totals as grouped
        where grouped.account_id = ${accountId} and grouped.shown_reviews > 0
          and grouped.rating_target = 'g' || cast(review_totals.shown_group as text)
      ) then 1 else 0 end
    from due_last where review_totals.account_id = ${accountId} and review_totals.rating_target = due_last.rating_target
      and review_totals.rating_target in (select rating_target from due_last)`.execute(context.transaction);
}
