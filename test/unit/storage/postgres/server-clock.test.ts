import { describe, expect, it } from "vitest";
import { ServerClock } from "../../../../src/storage/postgres/server-clock.ts";

/** A clock of a server that is `aheadMs` ahead of the monotonic clock of this process. */
function setUp(aheadMs: number) {
  const time = { monotonicMs: 1_000, aheadMs, tripMs: 4, errorMs: 0, isDown: false, measured: 0 };
  const clock = new ServerClock(
    async () => {
      time.measured += 1;
      if (time.isDown) throw new Error("unreachable");
      return { offsetMs: time.aheadMs + time.errorMs, tripMs: time.tripMs };
    },
    () => time.monotonicMs,
  );
  const pass = async (ms: number) => {
    time.monotonicMs += ms;
    clock.now();
    await Promise.resolve();
  };
  return { time, clock, pass, nowMs: () => clock.now() - time.monotonicMs };
}

describe("the clock of a server", () => {
  it("is measured at the start, and then at most every ten seconds, while it is read", async () => {
    const { time, clock, pass, nowMs } = setUp(7_200_000);
    await clock.start();
    expect([nowMs(), time.measured]).toEqual([7_200_000, 1]);
    await pass(9_999);
    expect(time.measured).toBe(1);
    await pass(1);
    await pass(9_999);
    expect([nowMs(), time.measured]).toEqual([7_200_000, 2]);
  });

  it("is that of the shortest round trip", async () => {
    const { time, clock, pass, nowMs } = setUp(1_000);
    Object.assign(time, { tripMs: 80, errorMs: 35 });
    await clock.start();
    expect(nowMs()).toBe(1_035);
    Object.assign(time, { tripMs: 2, errorMs: 1 });
    await pass(10_000);
    await pass(100);
    expect(nowMs()).toBe(1_001);
    Object.assign(time, { tripMs: 60, errorMs: 30 });
    await pass(10_000);
    await pass(100);
    expect(nowMs()).toBe(1_001);
  });

  it("continues while the server is unreachable", async () => {
    const { time, clock, pass, nowMs } = setUp(500);
    await clock.start();
    time.isDown = true;
    await pass(10_000);
    await pass(3_600_000);
    expect([nowMs(), time.measured]).toEqual([500, 3]);
  });

  it("cannot be started while the server is unreachable", async () => {
    const { time, clock } = setUp(500);
    time.isDown = true;
    await expect(clock.start()).rejects.toThrow("unreachable");
  });

  it("follows a server whose clock was set, or that has taken over for another one", async () => {
    const { time, clock, pass, nowMs } = setUp(500);
    await clock.start();
    for (const aheadMs of [3_600_000, -3_600_000]) {
      Object.assign(time, { aheadMs, tripMs: 50 });
      await pass(10_000);
      expect(nowMs()).toBe(aheadMs);
    }
  });

  it("stands still rather than going back by less than a lease", async () => {
    const { time, clock, pass } = setUp(10_000);
    await clock.start();
    const beforeMs = clock.now();
    time.aheadMs = -20_000;
    await pass(10_000);
    const seen = [clock.now()];
    for (const ms of [5_000, 24_000, 2_000]) {
      time.monotonicMs += ms;
      seen.push(clock.now());
    }
    expect(seen.map((ms) => ms - beforeMs)).toEqual([10_000, 10_000, 10_000, 11_000]);
  });
});
