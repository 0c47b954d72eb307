import { type Kysely, sql } from "kysely";
import { coreRateLimit, type Endpoint, readRateLimit } from "../../contract/index.ts";
import type { Database } from "../../storage/database.ts";
import type { Tables } from "../../storage/tables.ts";

/** The number of requests that an account may make in a fixed time window. */
export interface RateLimit {
  readonly name: "core" | "cdn" | "legacy" | "public";
  readonly requests: number;
  readonly windowMs: number;
  /** Whether responses include the remaining number of requests. Source: spec "Limits": every core API response does. */
  readonly isReported: boolean;
}

/**
 * Source: spec "Limits". Assumed: the optional limit for other operations equals the one of the core API. Calls without
 * credentials have a window of their own, because anyone can make them.
 */
const limits = {
  core: { name: "core", ...coreRateLimit, isReported: true },
  cdn: { name: "cdn", ...readRateLimit, isReported: false },
  legacy: { name: "legacy", ...coreRateLimit, isReported: true },
  public: { name: "public", ...coreRateLimit, isReported: true },
} as const satisfies Record<string, RateLimit>;

interface LimitedCall {
  /** Whether to also limit operations for which the specification defines no limit. */
  readonly limitLegacy: boolean;
  /** Whether the caller has proved to be the store. */
  readonly isStore: boolean;
}

/** The limit that applies to a call, if any. */
export function limitOf(endpoint: Endpoint, { limitLegacy, isStore }: LimitedCall): RateLimit | undefined {
  if (endpoint.errorForm === "core") return limits.core;
  if (endpoint.isReadLimited) return limits.cdn;
  if (!limitLegacy) return undefined;
  return isStore ? limits.legacy : limits.public;
}

export interface WindowState {
  readonly allowed: boolean;
  readonly remaining: number;
  readonly resetAtMs: number;
}

/**
 * Counts requests by account and limit.
 * Source: spec "Limits". Assumed: windows are aligned to the clock, so one-second windows start at full seconds;
 * rejected calls do not count.
 */
export interface RateWindow {
  take(accountId: number, limit: RateLimit): Promise<WindowState>;
}

/** Assumed: processes that share a SQLite file count separately; those that share a PostgreSQL database count together. */
export function createRateWindow({ db, dialect }: Database, clock: () => number): RateWindow {
  return dialect.isServer ? new DatabaseWindow(db, clock) : new ProcessWindow(clock);
}

function stateOf(limit: RateLimit, startMs: number, taken: number | undefined): WindowState {
  const remaining = taken === undefined ? 0 : limit.requests - taken;
  return { allowed: taken !== undefined, remaining, resetAtMs: startMs + limit.windowMs };
}

function startOf({ windowMs }: RateLimit, nowMs: number): number {
  return Math.floor(nowMs / windowMs) * windowMs;
}

interface Counts {
  startMs: number;
  readonly taken: Map<number, number>;
}

/** Counts requests in memory. */
class ProcessWindow implements RateWindow {
  readonly #clock: () => number;
  readonly #countsByLimit = new Map<string, Counts>();

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  async take(accountId: number, limit: RateLimit): Promise<WindowState> {
    const startMs = startOf(limit, this.#clock());
    const counts = this.#countsByLimit.get(limit.name) ?? { startMs, taken: new Map<number, number>() };
    this.#countsByLimit.set(limit.name, counts);
    if (counts.startMs !== startMs) {
      counts.startMs = startMs;
      counts.taken.clear();
    }
    const taken = (counts.taken.get(accountId) ?? 0) + 1;
    if (taken > limit.requests) return stateOf(limit, startMs, undefined);
    counts.taken.set(accountId, taken);
    return stateOf(limit, startMs, taken);
  }
}

/** Counts requests in the database, outside the call's transaction, so that failed calls count too. */
class DatabaseWindow implements RateWindow {
  readonly #db: Kysely<Tables>;
  readonly #clock: () => number;

  constructor(db: Kysely<Tables>, clock: () => number) {
    this.#db = db;
    this.#clock = clock;
  }

  /**
   * Clocks differ between machines. A machine whose clock is behind counts in the window that another has started. A
   * window that starts more than one window length in the future is discarded as the result of a wrong clock. Counts
   * need not survive a crash, so the commit is asynchronous.
   */
  async take(accountId: number, limit: RateLimit): Promise<WindowState> {
    const startMs = startOf(limit, this.#clock());
    const isOver = sql`(held.started_at < excluded.started_at
      or held.started_at > excluded.started_at + cast(${limit.windowMs} as bigint))`;
    const { rows } = await sql<{ started_at: number; taken: number }>`
      insert into rate_windows as held (account_id, name, started_at, taken)
      values (cast(${accountId} as bigint), cast(${limit.name} as text), cast(${startMs} as bigint),
        case set_config('synchronous_commit', 'off', true) when 'off' then 1 end)
      on conflict (account_id, name) do update set
        started_at = case when ${isOver} then excluded.started_at else held.started_at end,
        taken = case when ${isOver} then 1 else held.taken + 1 end
      where ${isOver} or held.taken < cast(${limit.requests} as bigint)
      returning started_at, taken`.execute(this.#db);
    return stateOf(limit, rows[0]?.started_at ?? startMs, rows[0]?.taken);
  }
}
