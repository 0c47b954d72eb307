import { type Kysely, sql } from "kysely";
import { coreRateLimit, type Endpoint, readRateLimit } from "../../contract/index.ts";
import type { Database } from "../../storage/database.ts";
import type { Tables } from "../../storage/tables.ts";

/** How many requests an account may make in a window of the clock. */
export interface RateLimit {
  readonly name: "core" | "cdn" | "legacy";
  readonly requests: number;
  readonly windowMs: number;
  /** Whether each answer tells what is left. Source: spec "Limits": every core API response does. */
  readonly isReported: boolean;
}

/** Source: spec "Limits". Assumed: a limit of the other calls, where it is wished for, is the core API's number. */
const limits = {
  core: { name: "core", ...coreRateLimit, isReported: true },
  cdn: { name: "cdn", ...readRateLimit, isReported: false },
  legacy: { name: "legacy", ...coreRateLimit, isReported: true },
} as const satisfies Record<string, RateLimit>;

/** The one limit that a call counts against, if any. */
export function limitOf(
  endpoint: Endpoint,
  { limitLegacy }: { readonly limitLegacy: boolean },
): RateLimit | undefined {
  if (endpoint.errorForm === "core") return limits.core;
  if (endpoint.isReadLimited) return limits.cdn;
  return limitLegacy ? limits.legacy : undefined;
}

/** What is left of an account's window, and when that ends. */
export interface WindowState {
  readonly allowed: boolean;
  readonly remaining: number;
  readonly resetAtMs: number;
}

/**
 * Counts requests by account and limit.
 * Source: spec "Limits". Assumed: a window is fixed to the clock, so that those of a second begin with its whole
 * seconds, and a refused call takes nothing.
 */
export interface RateWindow {
  take(accountId: number, limit: RateLimit): Promise<WindowState>;
}

/** Assumed: processes that share a SQLite file count each for itself; those that share a PostgreSQL database count together. */
export function createRateWindow({ db, dialect }: Database, clock: () => number): RateWindow {
  return dialect.isServer ? new SharedWindow(db, clock) : new OwnWindow(clock);
}

function stateOf(limit: RateLimit, startMs: number, taken: number | undefined): WindowState {
  const remaining = taken === undefined ? 0 : limit.requests - taken;
  return { allowed: taken !== undefined, remaining, resetAtMs: startMs + limit.windowMs };
}

function startOf({ windowMs }: RateLimit, nowMs: number): number {
  return Math.floor(nowMs / windowMs) * windowMs;
}

interface Counting {
  startMs: number;
  readonly taken: Map<number, number>;
}

/** Counts in this process. */
class OwnWindow implements RateWindow {
  readonly #clock: () => number;
  readonly #countings = new Map<string, Counting>();

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  async take(accountId: number, limit: RateLimit): Promise<WindowState> {
    const startMs = startOf(limit, this.#clock());
    const counting = this.#countings.get(limit.name) ?? { startMs, taken: new Map<number, number>() };
    this.#countings.set(limit.name, counting);
    if (counting.startMs !== startMs) {
      counting.startMs = startMs;
      counting.taken.clear();
    }
    const taken = (counting.taken.get(accountId) ?? 0) + 1;
    if (taken > limit.requests) return stateOf(limit, startMs, undefined);
    counting.taken.set(accountId, taken);
    return stateOf(limit, startMs, taken);
  }
}

/** Counts in the database, outside the call's transaction: a call counts also where it fails. */
class SharedWindow implements RateWindow {
  readonly #db: Kysely<Tables>;
  readonly #clock: () => number;

  constructor(db: Kysely<Tables>, clock: () => number) {
    this.#db = db;
    this.#clock = clock;
  }

  /**
   * Clocks of machines differ a little: who is behind counts in the window that another has begun. One that is more
   * than a window ahead was begun by a clock that is wrong. A count need not survive a power cut.
   */
  async take(accountId: number, limit: RateLimit): Promise<WindowState> {
    const startMs = startOf(limit, this.#clock());
    const isOver = sql`(held.started_at < excluded.started_at
      or held.started_at > excluded.started_at + cast(${limit.windowMs} as bigint))`;
    const { rows } = await sql<{ started_at: number; taken: number }>`
      insert into rate_windows as held (account_id, name, started_at, taken)
      select cast(${accountId} as bigint), cast(${limit.name} as text), cast(${startMs} as bigint), 1
      from set_config('synchronous_commit', 'off', true)
      on conflict (account_id, name) do update set
        started_at = case when ${isOver} then excluded.started_at else held.started_at end,
        taken = case when ${isOver} then 1 else held.taken + 1 end
      where ${isOver} or held.taken < cast(${limit.requests} as bigint)
      returning started_at, taken`.execute(this.#db);
    return stateOf(limit, rows[0]?.started_at ?? startMs, rows[0]?.taken);
  }
}
