import { type Kysely, sql } from "kysely";
import { batchOf } from "../batch.ts";
import type { StorageDialect } from "../dialect.ts";
import { createStatement } from "../statement.ts";
import type { Tables } from "../tables.ts";
import type { TakenToken, Token, TokenStore } from "../token-store.ts";

/** In the order in which tokens are passed to the statement. */
const columns = {
  name: "text",
  full_level: "integer",
  empty_level: "integer",
  cost: "integer",
  period: "integer",
  replacement: "integer",
} as const;

/** The level after taking a token that is wanted; null if the bucket `held` is empty. The same as in `MemoryTokenStore`. */
const nextLevel = sql`(
  select case when level + cost <= case when level > empty_level then empty_level + period else empty_level end
    then level + cost end
  from wanted cross join lateral (select case when held.level > empty_level + period then replacement
    else greatest(held.level, full_level) end as level) as before
  where wanted.name = held.name)`;

/**
 * Takes all tokens. Processes lock buckets in the same order. Levels need not survive a crash, so the commit is asynchronous.
 * The level of an empty bucket is from before the statement.
 */
const takeTokens = createStatement<{ tokens: string }, { name: string; is_taken: boolean; level: number | null }>(
  (slot, dialect) => sql`
    with wanted as materialized (select batch.* from ${batchOf(columns, slot("tokens"), dialect)}, set_config('synchronous_commit', 'off', true)),
    taken as (
      insert into token_buckets as held (name, level)
      select name, full_level + cost from wanted order by name
      on conflict (name) do update set level = ${nextLevel} where ${nextLevel} is not null
      returning name, level)
    select wanted.name, taken.name is not null as is_taken, coalesce(taken.level, held.level) as level
    from wanted left join taken using (name) left join token_buckets as held using (name)`,
);

/** How often a process deletes full buckets, how many at once, and the longest period of those that are filled at once. */
const cleanUp = { everyMs: 600_000, rows: 10_000, maxPeriodMs: 60_000 } as const;

/** Keeps levels in the database, outside the transactions of calls, so that failed calls count too. */
export class DatabaseTokenStore implements TokenStore {
  readonly #db: Kysely<Tables>;
  readonly #dialect: StorageDialect;
  readonly #clock: () => number;
  #cleanUpAtMs = 0;

  constructor(db: Kysely<Tables>, dialect: StorageDialect, clock: () => number) {
    this.#db = db;
    this.#dialect = dialect;
    this.#clock = clock;
  }

  async take(tokens: readonly Token[]): Promise<readonly TakenToken[]> {
    await this.#deleteFull();
    const rows = tokens.map((token) => {
      return [token.key, token.fullLevel, token.emptyLevel, token.cost, token.period, token.replacement];
    });
    const found = await takeTokens(this.#db, this.#dialect, { tokens: JSON.stringify(rows) });
    const taken = new Map(
      found.rows.map(({ name, is_taken, level }) => [name, { isTaken: is_taken, level: level ?? 0 }]),
    );
    return tokens.map(({ key }) => taken.get(key) ?? { isTaken: false, level: 0 });
  }

  async #deleteFull(): Promise<void> {
    const nowMs = this.#clock();
    if (nowMs < this.#cleanUpAtMs) return;
    this.#cleanUpAtMs = nowMs + cleanUp.everyMs;
    await sql`
      delete from token_buckets where name in (
        select name from token_buckets where level <= cast(${nowMs - cleanUp.maxPeriodMs} as bigint)
        limit ${sql.lit(cleanUp.rows)} for update skip locked
      )`.execute(this.#db);
  }
}
