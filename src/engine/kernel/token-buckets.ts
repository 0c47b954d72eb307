import { type Kysely, sql } from "kysely";
import type { TokenBucket } from "../../contract/index.ts";
import { hourMs } from "../../contract/time.ts";
import type { Database } from "../../storage/database.ts";
import type { Tables } from "../../storage/tables.ts";

/** Token buckets by key. */
export interface TokenBuckets {
  /** Takes a token. Returns 0, or after how many milliseconds there is one. */
  take(key: string, size: TokenBucket): Promise<number>;
}

/** Assumed: processes that share a SQLite file have separate buckets; those that share a PostgreSQL database share them. */
export function createTokenBuckets({ db, dialect }: Database, clock: () => number): TokenBuckets {
  return dialect.isServer ? new DatabaseBuckets(db, clock) : new ProcessBuckets(clock);
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

  async take(key: string, size: TokenBucket): Promise<number> {
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

/** How often a process deletes full buckets from the database, and how many at once. */
const cleanUp = { everyMs: 600_000, rows: 10_000 } as const;

/** Keeps buckets in the database, outside the transactions of calls, so that failed calls count too. */
class DatabaseBuckets implements TokenBuckets {
  readonly #db: Kysely<Tables>;
  readonly #clock: () => number;
  #cleanUpAtMs = 0;

  constructor(db: Kysely<Tables>, clock: () => number) {
    this.#db = db;
    this.#clock = clock;
  }

  /** Buckets need not survive a crash, so the commit is asynchronous. */
  async take(key: string, size: TokenBucket): Promise<number> {
    const nowMs = this.#clock();
    const { tokenMs, bucketMs } = refillTimesOf(size);
    await this.#deleteFull(nowMs);
    const [now, token, bucket] = [nowMs, tokenMs, bucketMs].map((ms) => sql`cast(${ms} as bigint)`);
    const fullAt = sql`least(greatest(held.full_at, ${now}), ${now} + ${bucket})`;
    const { rows } = await sql<{ full_at: number }>`
      insert into token_buckets as held (name, full_at)
      select cast(${key} as text), ${now} + ${token} from set_config('synchronous_commit', 'off', true)
      on conflict (name) do update set full_at = ${fullAt} + ${token}
      where ${fullAt} + ${token} <= ${now} + ${bucket}
      returning full_at`.execute(this.#db);
    return rows.length > 0 ? 0 : this.#findWait(key, nowMs, { tokenMs, bucketMs });
  }

  async #findWait(key: string, nowMs: number, times: ReturnType<typeof refillTimesOf>): Promise<number> {
    const { tokenMs, bucketMs } = times;
    const row = await this.#db.selectFrom("token_buckets").select("full_at").where("name", "=", key).executeTakeFirst();
    const fullAtMs = Math.min(row?.full_at ?? 0, nowMs + bucketMs);
    return Math.max(1, fullAtMs + tokenMs - bucketMs - nowMs);
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
