import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { takeTokens } from "../../../../src/engine/kernel/call-limits.ts";
import { type Database, openDatabase } from "../../../../src/storage/database.ts";
import { MemoryTokenStore, type TokenStore } from "../../../../src/storage/token-store.ts";
import { createClock, type TestClock } from "../../../support/backends.ts";
import { describeDatabases } from "../../../support/databases.ts";

const size = { burst: 3, perHour: 60 };
const minuteMs = 60_000;

describeDatabases("a token bucket", (url) => {
  let databases: Database[];
  let clock: TestClock;
  let buckets: TokenStore;

  beforeEach(async () => {
    databases = [await openDatabase(url(), { nowMs: 0 }), await openDatabase(url(), { nowMs: 0 })];
    clock = createClock();
    buckets = createStore(first());
  });

  afterEach(() => Promise.all(databases.map(({ db }) => db.destroy())));

  const first = (): Database => databases[0] ?? expect.unreachable();

  const createStore = ({ db, dialect }: Database) => dialect.createTokenStore(db, clock);

  const takeMany = async (from: TokenStore, times: number, key = "a") => {
    const waits = [];
    for (let taken = 0; taken < times; taken += 1) waits.push(await takeTokens(from, [{ key, size }], clock()));
    return waits;
  };

  it("holds a burst, is refilled at its rate, and never holds more", async () => {
    expect(await takeMany(buckets, 5)).toEqual([0, 0, 0, minuteMs, minuteMs]);
    clock.advance(45_000);
    expect(await takeMany(buckets, 1)).toEqual([15_000]);
    clock.advance(15_000);
    expect(await takeMany(buckets, 2)).toEqual([0, minuteMs]);
    clock.advance(1_000 * minuteMs);
    expect(await takeMany(buckets, 4)).toEqual([0, 0, 0, minuteMs]);
    expect(await takeMany(buckets, 1, "b")).toEqual([0]);
  });

  it("recovers from a clock that was ahead, and applies a smaller size at once", async () => {
    clock.advance(1_000 * minuteMs);
    await takeMany(buckets, 3);
    clock.advance(-1_000 * minuteMs);
    expect(await takeMany(buckets, 1)).toEqual([minuteMs]);
    expect(await takeTokens(buckets, [{ key: "a", size: { burst: 1, perHour: 3_600 } }], clock())).toBe(1_000);
  });

  it("can be one of a day, which allows a number of calls in any 24 hours", async () => {
    const daily = { key: "d", size: { perDay: 3 } };
    const [hourMs, allowed] = [60 * minuteMs, [] as number[]];
    const take = () => takeTokens(buckets, [{ key: "a", size }, daily], clock());
    expect([await take(), await take(), await take(), await take()]).toEqual([0, 0, 0, 24 * hourMs]);
    clock.advance(24 * hourMs);
    for (let hour = 0; hour < 100; hour += 1) {
      if ((await takeTokens(buckets, [daily], clock())) === 0) allowed.push(hour);
      clock.advance((hour % 3 === 0 ? 5 : 1) * hourMs);
    }
    expect(allowed.length).toBeGreaterThan(25);
    const others = await Promise.all(
      Array.from({ length: 9 }, () => takeTokens(buckets, [{ ...daily, key: "e" }], clock())),
    );
    expect(others.filter((waitMs) => waitMs === 0)).toHaveLength(3);
  });

  it("is taken from together with others, and the longest wait counts", async () => {
    const large = { burst: 5, perHour: 30 };
    const both = [
      { key: "b", size: large },
      { key: "a", size },
    ];
    for (let taken = 0; taken < 3; taken += 1) expect(await takeTokens(buckets, both, clock())).toBe(0);
    expect(await takeTokens(buckets, both, clock())).toBe(minuteMs);
    expect(await takeTokens(buckets, both, clock())).toBe(minuteMs);
    expect(await takeTokens(buckets, both, clock())).toBe(2 * minuteMs);
    expect(await takeTokens(buckets, [], clock())).toBe(0);
  });

  it("is shared between processes on PostgreSQL, but not on SQLite", async () => {
    const other = createStore(databases[1] ?? expect.unreachable());
    const waits = await Promise.all(
      [buckets, other].flatMap((one) =>
        Array.from({ length: 9 }, () => takeTokens(one, [{ key: "a", size }], clock())),
      ),
    );
    expect(waits.filter((ms) => ms === 0)).toHaveLength(first().dialect.name === "postgres" ? 3 : 6);
  });

  it("leaves no rows of full buckets on PostgreSQL, and none on SQLite", async () => {
    await takeMany(buckets, 2);
    clock.advance(20 * minuteMs);
    await takeMany(buckets, 1, "b");
    const rows = await first().db.selectFrom("token_buckets").select("name").execute();
    expect(rows).toEqual(first().dialect.name === "postgres" ? [{ name: "b" }] : []);
  });
});

describe("token buckets in memory", () => {
  it("keep a limited number of buckets, the most recently used", async () => {
    const buckets = new MemoryTokenStore();
    const single = { burst: 1, perHour: 1 };
    await takeTokens(buckets, [{ key: "first", size: single }], 0);
    for (let at = 0; at < 150_000; at += 1) {
      await takeTokens(buckets, [{ key: `submissions-per-client 2001:db8:${at}:0`, size }], 0);
      if (at % 10_000 === 0) await takeTokens(buckets, [{ key: "used", size: single }], 0);
    }
    expect(await takeTokens(buckets, [{ key: "used", size: single }], 0)).toBeGreaterThan(0);
    expect(await takeTokens(buckets, [{ key: "first", size: single }], 0)).toBe(0);
  });
});
