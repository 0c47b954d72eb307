import { type Kysely, sql } from "kysely";
import type { TokenBucket } from "../../contract/index.ts";
import { hourMs } from "../../contract/time.ts";
import { batchRows } from "../../storage/batch.ts";
import type { Database } from "../../storage/database.ts";
import type { StorageDialect } from "../../storage/dialect.ts";
import type { Tables } from "../../storage/tables.ts";

/** A token to take. */
interface Token {
  /** The bucket. */
  readonly key: string;
  readonly size: TokenBucket;
}

/** Token buckets by key. */
export interface TokenBuckets {
  /**
   * Takes a token from each of several buckets. Assumed: if one is empty, the tokens of the others are taken anyway.
   * @returns 0, or after how many milliseconds all of them have one
   */
  take(tokens: readonly Token[]): Promise<number>;
}

/** Assumed: processes that share a SQLite file have separate buckets; those that share a PostgreSQL database share them. */
export function createTokenBuckets(database: Database, clock: () => number): TokenBuckets {
  return database.dialect.isServer ? new DatabaseBuckets(database, clock) : new ProcessBuckets(clock);
}

/** How long it takes to refill one token, and a complete bucket, in milliseconds. */
function refillTimesOf({ burst, perHour }: TokenBucket) {
  const tokenMs = Math.ceil(hourMs / perHour);
  return { tokenMs, bucketMs: burst * tokenMs };
}

/** The maximum number of buckets in a generation. */
const maxBuckets = 25_000;

/**
 * Keeps buckets in memory, each as the time at which it is full again. There are two generations: when the newer one is
 * too large, it becomes the older one, whose buckets are dropped, and thus full. Bucket by bucket, dropping the oldest
 * would take time proportional to their number.
 */
export class ProcessBuckets implements TokenBuckets {
  readonly #clock: () => number;
  #newer = new Map<string, number>();
  #older = new Map<string, number>();

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  async take(tokens: readonly Token[]): Promise<number> {
    return Math.max(0, ...tokens.map((token) => this.#takeOne(token)));
  }

  #takeOne({ key, size }: Token): number {
    const nowMs = this.#clock();
    const { tokenMs, bucketMs } = refillTimesOf(size);
    const storedMs = this.#newer.get(key) ?? this.#older.get(key) ?? 0;
    // No bucket takes longer to fill, unless the clock was ahead.
    const fullAtMs = Math.min(Math.max(storedMs, nowMs), nowMs + bucketMs);
    const waitMs = Math.max(0, fullAtMs + tokenMs - bucketMs - nowMs);
    this.#newer.set(key, waitMs === 0 ? fullAtMs + tokenMs : fullAtMs);
    if (this.#newer.size >= maxBuckets) [this.#older, this.#newer] = [this.#newer, new Map()];
    return waitMs;
  }
}

interface BucketRow {
  name: string;
  token_ms: number;
  bucket_ms: number;
}

/** How often a process deletes full buckets from the database, and how many at once. */
const cleanUp = { everyMs: 600_000, rows: 10_000 } as const;

/** Keeps buckets in the database, outside the transactions of calls, so that failed calls count too. */
class DatabaseBuckets implements TokenBuckets {
  readonly #db: Kysely<Tables>;
  readonly #dialect: StorageDialect;
  readonly #clock: () => number;
  #cleanUpAtMs = 0;

  constructor({ db, dialect }: Pick<Database, "db" | "dialect">, clock: () => number) {
    this.#db = db;
    this.#dialect = dialect;
    this.#clock = clock;
  }

  /**
   * Takes all tokens with one statement. Processes lock buckets in the same order. Buckets need not survive a crash, so
   * the commit is asynchronous.
   */
  async take(tokens: readonly Token[]): Promise<number> {
    if (tokens.length === 0) return 0;
    const nowMs = this.#clock();
    await this.#deleteFull(nowMs);
    const now = sql`cast(${nowMs} as bigint)`;
    const rows = tokens.map(({ key, size }) => {
      const { tokenMs, bucketMs } = refillTimesOf(size);
      return [key, tokenMs, bucketMs];
    });
    const buckets = batchRows<BucketRow>(
      { name: "text", token_ms: "integer", bucket_ms: "integer" },
      rows,
      this.#dialect,
    );
    const bucket = sql`(select bucket_ms from buckets where buckets.name = held.name)`;
    const stored = sql`least(greatest(held.full_at, ${now}), ${now} + ${bucket})`;
    const { rows: found } = await sql<BucketRow & { is_taken: boolean; full_at: number | null }>`
      with buckets as materialized (select batch.* from ${buckets}, set_config('synchronous_commit', 'off', true)),
      taken as (
        insert into token_buckets as held (name, full_at)
        select name, ${now} + token_ms from buckets order by name
        on conflict (name) do update set full_at = ${stored} + excluded.full_at - ${now}
        where ${stored} + excluded.full_at <= ${now} + ${now} + ${bucket}
        returning name)
      select buckets.*, taken.name is not null as is_taken, token_buckets.full_at
      from buckets left join taken using (name) left join token_buckets using (name)`.execute(this.#db);
    // The time is from before this statement, so a simultaneous call may have taken the last token.
    const waits = found.map(({ is_taken, full_at, token_ms, bucket_ms }) =>
      is_taken ? 0 : Math.max(1, Math.min(full_at ?? 0, nowMs + bucket_ms) + token_ms - bucket_ms - nowMs),
    );
    return Math.max(...waits);
  }

  async #deleteFull(nowMs: number): Promise<void> {
    if (nowMs < this.#cleanUpAtMs) return;
    this.#cleanUpAtMs = nowMs + cleanUp.everyMs;
    await sql`
      delete from token_buckets where name in (
        select name from token_buckets where full_at <= cast(${nowMs} as bigint)
        limit ${sql.lit(cleanUp.rows)} for update skip locked
      )`.execute(this.#db);
  }
}
