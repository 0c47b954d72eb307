import { type RawBuilder, sql } from "kysely";
import { createStatement } from "../../storage/statement.ts";
import type { HandlerContext } from "./handler.ts";

type Context = Pick<HandlerContext, "transaction" | "dialect" | "nowMs">;

/**
 * Whether a query finds a row. Unlike `exists`, for which PostgreSQL may read all rows of all accounts, it always means one
 * index lookup per row of the outer query.
 */
export const findsAny = (query: RawBuilder<unknown>) => sql<boolean>`(${query} limit 1) is not null`;

/** Accounts per step of a walk. */
const stepSize = 1_000;

interface Step {
  /** The accounts that meet the condition. */
  readonly found: readonly number[];
  /** The last account that was checked; absent if it was the last of all. */
  readonly last?: number | undefined;
}

export type AccountWalk = (after: number, context: Context) => Promise<Step>;

/**
 * Creates a search for accounts that checks some of them with each call, in order of their IDs, beginning after an
 * account. Only elected work visits all accounts.
 * @param condition a query of one row if an account meets it
 */
export function createAccountWalk(
  condition: (accountId: RawBuilder<unknown>, nowMs: RawBuilder<unknown>) => RawBuilder<unknown>,
): AccountWalk {
  const walk = createStatement<
    { after: number; nowMs: number },
    { readonly account_id: number; readonly is_found: number }
  >(
    (slot) => sql`
      select walked.account_id,
        case when ${findsAny(condition(sql.ref("walked.account_id"), slot("nowMs")))} then 1 else 0 end as is_found
      from account_versions as walked where walked.account_id > ${slot("after")}
      order by walked.account_id limit ${sql.lit(stepSize)}`,
  );
  return async (after, { transaction, dialect, nowMs }) => {
    const { rows } = await walk(transaction, dialect, { after, nowMs });
    const found = rows.filter(({ is_found }) => is_found === 1).map(({ account_id }) => account_id);
    return { found, last: rows.length < stepSize ? undefined : rows.at(-1)?.account_id };
  };
}
