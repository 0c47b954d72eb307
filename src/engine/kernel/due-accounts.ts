import { type RawBuilder, sql } from "kysely";
import { batchOf } from "../../storage/batch.ts";
import { createStatement } from "../../storage/statement.ts";
import type { EngineWork, HandlerContext } from "./handler.ts";

type Context = Pick<HandlerContext, "transaction" | "dialect" | "nowMs">;

/** Rows at each end of a queue that are read to find accounts with due work. */
const windowSize = 250;

/** Accounts per statement, and statements per search, if the ends of a queue do not show all of them. */
const walkSize = 500;
const maxWalks = 4;

interface Walked {
  /** The accounts that meet the condition. */
  readonly found: readonly number[];
  /** The last account that was checked; absent if it was the last of all. */
  readonly last?: number | undefined;
}

/** A query of one row if an account meets a condition. */
type Condition = (accountId: RawBuilder<unknown>, nowMs: RawBuilder<unknown>) => RawBuilder<unknown>;

/**
 * Whether a query finds a row. Unlike `exists`, for which PostgreSQL may read all rows of all accounts, it always means one
 * index lookup per row of the outer query.
 */
export const findsAny = (query: RawBuilder<unknown>) => sql<boolean>`(${query} limit 1) is not null`;

/**
 * Creates a search for accounts that checks a limited number of them, in order of their IDs, beginning after the last one
 * of the previous search.
 */
export function createAccountWalk(condition: Condition): (after: number, context: Context) => Promise<Walked> {
  const walk = createStatement<
    { after: number; nowMs: number },
    { readonly account_id: number; readonly is_found: number }
  >(
    (slot) => sql`
      select walked.account_id,
        case when ${findsAny(condition(sql.ref("walked.account_id"), slot("nowMs")))} then 1 else 0 end as is_found
      from account_versions as walked where walked.account_id > ${slot("after")}
      order by walked.account_id limit ${sql.lit(walkSize)}`,
  );
  return async (after, { transaction, dialect, nowMs }) => {
    const { rows } = await walk(transaction, dialect, { after, nowMs });
    const found = rows.filter(({ is_found }) => is_found === 1).map(({ account_id }) => account_id);
    return { found, last: rows.length < walkSize ? undefined : rows.at(-1)?.account_id };
  };
}

const isActive = (accountId: RawBuilder<unknown>) => sql<boolean>`(
  select accounts.disabled_at from accounts where accounts.id = ${accountId}
) is null`;

/** Creates a query that selects those of some accounts that are active and meet a condition. */
export function createSelection(
  isReady: (accountId: RawBuilder<unknown>, nowMs: RawBuilder<unknown>) => RawBuilder<unknown>,
): Queue["selectReady"] {
  const select = createStatement<{ rows: string; nowMs: number }, { readonly account_id: number }>((slot, dialect) => {
    const accountId = sql.ref("checked.account_id");
    const batch = batchOf({ account_id: "integer" }, slot("rows"), dialect);
    return sql`
      select checked.account_id from account_versions as checked
      where checked.account_id in (select batch.account_id from ${batch})
        and ${isActive(accountId)} and (${isReady(accountId, slot("nowMs"))})`;
  });
  return async (accountIds, { transaction, dialect, nowMs }) => {
    const rows = JSON.stringify(accountIds.map((id) => [id]));
    return (await select(transaction, dialect, { rows, nowMs })).rows.map(({ account_id }) => account_id);
  };
}

/** A queue: a table whose rows are due from `due_at` on while `queued`, and again when a worker's lease has expired. */
export interface Queue {
  readonly table: "mails" | "webhook_deliveries";
  /** A query of one row if an account has rows that are due. */
  readonly hasDue: Condition;
  /** Of some accounts, selects those of which a worker can take rows now. Not disabled ones. */
  readonly selectReady: (accountIds: readonly number[], context: Context) => Promise<readonly number[]>;
  /** Accounts with a lower load come first. */
  readonly loadOf?: (accountId: number) => number;
}

/**
 * Lets the accounts that have due rows take turns. Finds them with a limited number of index lookups, regardless of the
 * number of rows: the accounts at both ends of the queue, and, if these do not show the complete queue, those of some
 * further accounts each time.
 */
export class DueAccounts {
  readonly #queue: Queue;
  readonly #statements: ReturnType<typeof createStatements>;
  readonly #walk: ReturnType<typeof createAccountWalk>;
  #walkedTo = 0;
  /** Accounts that were found between the ends of the queue. */
  #walked: ReadonlySet<number> = new Set();
  #lastServed = 0;

  constructor(queue: Queue) {
    this.#queue = queue;
    this.#statements = createStatements(queue.table);
    this.#walk = createAccountWalk(queue.hasDue);
  }

  /** Moves the account to the end of the line. */
  noteServed(accountId: number): void {
    this.#lastServed = accountId;
  }

  /** Finds the accounts of which rows can be taken now, those that have waited longest first. */
  async find(context: Context): Promise<readonly number[]> {
    const { transaction, dialect, nowMs } = context;
    const { rows } = await this.#statements.selectEnds(transaction, dialect, { nowMs });
    const isComplete = rows.reduce((sum, { oldest }) => sum + oldest, 0) < windowSize;
    const due = new Set([
      ...rows.map(({ account_id }) => account_id),
      ...(isComplete ? [] : await this.#findWalked(context)),
    ]);
    const { selectReady, loadOf = () => 0 } = this.#queue;
    const ready = due.size === 0 ? [] : await selectReady([...due], context);
    this.#walked = new Set(isComplete ? [] : ready);
    const waited = (accountId: number) => (accountId > this.#lastServed ? 0 : 1);
    return ready.toSorted((a, b) => loadOf(a) - loadOf(b) || waited(a) - waited(b) || a - b);
  }

  /** Checks some further accounts. Those that were found earlier wait for their turn, until they have nothing due. */
  async #findWalked(context: Context): Promise<readonly number[]> {
    const accountIds = [...this.#walked];
    for (let walks = 0; walks < maxWalks; walks += 1) {
      const { found, last } = await this.#walk(this.#walkedTo, context);
      accountIds.push(...found);
      this.#walkedTo = last ?? 0;
      if (last === undefined) break;
    }
    return accountIds;
  }

  /** Finds when the next row is due or the next lease expires, in milliseconds; undefined if nothing is pending. */
  async findNextDueTime(context: Context): Promise<number | undefined> {
    const { transaction, dialect, nowMs } = context;
    if ((await this.find(context)).length > 0) return nowMs;
    const { rows } = await this.#statements.selectUpcoming(transaction, dialect, { nowMs });
    return rows[0]?.at ?? undefined;
  }

  /**
   * Takes rows of the accounts that have due ones, an equal share of each. If an account cannot be written to, the others
   * come first the next time.
   * @param takeFrom takes up to `limit` rows of an account; returns their number
   * @throws what `takeFrom` throws for the first account
   */
  async takeInTurn(
    limit: number,
    { read }: Pick<EngineWork, "read">,
    takeFrom: (accountId: number, limit: number) => Promise<number>,
  ): Promise<void> {
    const accountIds = await read((context) => this.find(context));
    const share = Math.ceil(limit / accountIds.length);
    let remaining = limit;
    for (const [at, accountId] of accountIds.entries()) {
      try {
        remaining -= await takeFrom(accountId, Math.min(share, remaining));
        if (remaining <= 0) return;
      } catch (error) {
        this.noteServed(accountId);
        if (at === 0) throw error;
        return;
      }
    }
  }
}

function createStatements(name: Queue["table"]) {
  const table = sql.table(name);
  const window = sql.lit(windowSize);
  return {
    /** Selects the accounts of the rows that became due first and last, and of expired leases. */
    selectEnds: createStatement<{ nowMs: number }, { readonly account_id: number; readonly oldest: number }>((slot) => {
      const isDue = sql`state = 'queued' and due_at <= ${slot("nowMs")}`;
      return sql`
        select ends.account_id, sum(ends.oldest) as oldest from (
          select * from (select account_id, 1 as oldest from ${table} where ${isDue}
            order by due_at limit ${window}) as first_due
          union all
          select * from (select account_id, 0 as oldest from ${table} where ${isDue}
            order by due_at desc limit ${window}) as last_due
          union all
          select * from (select account_id, 0 as oldest from ${table} where leased_until <= ${slot("nowMs")}
            order by leased_until limit ${window}) as expired
        ) as ends group by ends.account_id`;
    }),
    selectUpcoming: createStatement<{ nowMs: number }, { readonly at: number | null }>(
      (slot) => sql`
        select min(upcoming.at) as at from (
          select * from (select account_id, due_at as at from ${table}
            where state = 'queued' and due_at > ${slot("nowMs")} order by due_at limit ${window}) as queued
          union all
          select * from (select account_id, leased_until as at from ${table} where leased_until > ${slot("nowMs")}
            order by leased_until limit ${window}) as leased
        ) as upcoming where ${isActive(sql.ref("upcoming.account_id"))}`,
    ),
  };
}
