import { sql } from "kysely";
import { bottomLinesDelay } from "../../contract/index.ts";
import { batchOf } from "../../storage/batch.ts";
import { starCount, starScore } from "../../storage/rating-sql.ts";
import { createDeferredStatement } from "../../storage/statement.ts";
import type { HandlerContext } from "../kernel/handler.ts";

/**
 * Records the bottom lines and groups of products, and the bottom lines of groups, which the transaction is about to
 * change: the list of bottom lines shows those of an earlier time. At any time of the last day, a rating target had the
 * bottom line that was recorded before the first later change.
 * @param targets their rating targets, each once
 */
export async function recordBottomLines(
  targets: readonly string[],
  accountId: number,
  { transaction, dialect, nowMs }: Pick<HandlerContext, "transaction" | "dialect" | "nowMs">,
): Promise<void> {
  if (targets.length === 0) return;
  await limitTimes(transaction, dialect, { accountId, nowMs });
  await deleteOld(transaction, dialect, { accountId, before: nowMs - bottomLinesDelay.maxMs });
  const rows = JSON.stringify(targets.map((target) => [target]));
  await insertChanges(transaction, dialect, { accountId, nowMs, rows });
}

/** No recorded change is later than the next one, even if a clock was wrong. */
const limitTimes = createDeferredStatement<{ accountId: number; nowMs: number }>(
  (slot) => sql`
    update bottom_line_changes set changed_at = ${slot("nowMs")}
    where account_id = ${slot("accountId")} and changed_at > ${slot("nowMs")}`,
);

const deleteOld = createDeferredStatement<{ accountId: number; before: number }>(
  (slot) => sql`
    delete from bottom_line_changes where account_id = ${slot("accountId")} and changed_at < ${slot("before")}`,
);

const insertChanges = createDeferredStatement<{ accountId: number; nowMs: number; rows: string }>(
  (slot, dialect) => sql`
    insert into bottom_line_changes (account_id, rating_target, reviews, score, group_row, updated_at, changed_at)
    select cast(${slot("accountId")} as bigint), batch.target, coalesce(${starCount}, 0), coalesce(${starScore}, 0),
      coalesce(group_products.group_row, 0), coalesce(review_totals.updated_at, 0), cast(${slot("nowMs")} as bigint)
    from ${batchOf<{ target: string }>({ target: "text" }, slot("rows"), dialect)}
    left join review_totals
      on review_totals.account_id = ${slot("accountId")} and review_totals.rating_target = batch.target
    left join group_products on group_products.account_id = ${slot("accountId")}
      and group_products.product_row = review_totals.product_row`,
);
