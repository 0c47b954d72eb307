import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { endpointOf } from "../../../../src/contract/index.ts";
import { limitOf, takeRequest } from "../../../../src/engine/kernel/call-limits.ts";
import { type Database, openDatabase } from "../../../../src/storage/database.ts";
import type { TokenStore } from "../../../../src/storage/token-store.ts";
import { createClock, type TestClock } from "../../../support/backends.ts";
import { describeDatabases } from "../../../support/databases.ts";

const core = { name: "core", requests: 5, windowMs: 1_000, isReported: true } as const;
const cdn = { name: "cdn", requests: 7, windowMs: 60_000, isReported: false } as const;
/** The start of a minute. */
const startMs = 1_700_000_040_000;

describeDatabases("a rate window", (url) => {
  let databases: Database[];
  let clock: TestClock;
  let window: TokenStore;

  beforeEach(async () => {
    databases = [await openDatabase(url(), { nowMs: 0 }), await openDatabase(url(), { nowMs: 0 })];
    for (const app_key of ["a", "b"]) {
      await first().db.insertInto("accounts").values({ app_key, secret_sealed: "", created_at: 0 }).execute();
    }
    clock = createClock(startMs);
    window = createStore(first());
  });

  afterEach(() => Promise.all(databases.map(({ db }) => db.destroy())));

  const first = (): Database => databases[0] ?? expect.unreachable();

  const createStore = ({ db, dialect }: Database) => dialect.createTokenStore(db, clock);

  const takeMany = async (from: TokenStore, times: number, { account = 1, aheadMs = 0 } = {}) => {
    const take = () => takeRequest(from, account, core, clock() + aheadMs);
    const states = await Promise.all(Array.from({ length: times }, take));
    return states.filter(({ allowed }) => allowed).length;
  };

  it("allows as many requests as the limit, and returns the remaining number", async () => {
    const resetAtMs = startMs + 1_000;
    for (const remaining of [4, 3, 2, 1, 0]) {
      expect(await takeRequest(window, 1, core, clock())).toEqual({ allowed: true, remaining, resetAtMs });
    }
    clock.advance(999);
    expect(await takeRequest(window, 1, core, clock())).toEqual({ allowed: false, remaining: 0, resetAtMs });
    clock.advance(1);
    expect(await takeRequest(window, 1, core, clock())).toEqual({
      allowed: true,
      remaining: 4,
      resetAtMs: resetAtMs + 1_000,
    });
  });

  it("counts separately for each account and limit", async () => {
    expect(await takeMany(window, 9)).toBe(5);
    expect(await takeMany(window, 9, { account: 2 })).toBe(5);
    clock.advance(20_000);
    for (const remaining of [6, 5]) {
      expect(await takeRequest(window, 1, cdn, clock())).toEqual({
        allowed: true,
        remaining,
        resetAtMs: startMs + 60_000,
      });
    }
    expect(await takeMany(window, 9)).toBe(5);
    clock.advance(39_999);
    expect(await takeRequest(window, 1, cdn, clock())).toMatchObject({ remaining: 4 });
    clock.advance(1);
    expect(await takeRequest(window, 1, cdn, clock())).toMatchObject({ remaining: 6 });
  });

  it("shares a window between processes on PostgreSQL, but not on SQLite", async () => {
    const other = createStore(databases[1] ?? expect.unreachable());
    const passed = await Promise.all([takeMany(window, 20), takeMany(other, 20)]);
    const total = passed.reduce((sum, one) => sum + one);
    expect(total).toBe(first().dialect.name === "postgres" ? 5 : 10);
  });

  it("tolerates small clock differences, and discards windows in the far future", async () => {
    clock.advance(700);
    expect(await takeMany(window, 3, { aheadMs: 400 })).toBe(3);
    expect(await takeMany(window, 9)).toBe(2);
    expect(await takeMany(window, 3, { aheadMs: 400 })).toBe(0);
    expect(await takeMany(window, 9, { aheadMs: 86_400_000 })).toBe(5);
    expect(await takeMany(window, 9)).toBe(5);
  });
});

describe("limitOf", () => {
  it.each([
    ["core.listProducts", "core", "core", "core"],
    ["reviews.bottomLines", "cdn", "cdn", "cdn"],
    ["orders.list", undefined, "legacy", "public"],
    ["questions.list", undefined, "legacy", "public"],
  ] as const)("of %s is %s by default; with limitLegacy, %s for the store and %s for others", (operation, ...names) => {
    const endpoint = endpointOf(operation);
    const calls = [
      { limitLegacy: false, isStore: true },
      { limitLegacy: true, isStore: true },
      { limitLegacy: true, isStore: false },
    ];
    expect(calls.map((call) => limitOf(endpoint, call)?.name)).toEqual(names);
  });
});
