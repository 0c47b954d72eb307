import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MemoryPace } from "../../../src/client/pace-state.ts";
import { Pacer } from "../../../src/client/pacer.ts";
import type { CallEvent } from "../../../src/service/transport.ts";
import { settle, VirtualTime } from "../../support/virtual-time.ts";
import { countRuns } from "../../support/suite-size.ts";

function createPacer(ratePerSecond: number, time = new VirtualTime()) {
  const pacer = new Pacer({ ratePerSecond, clock: time.clock, sleep: time.sleep });
  const startsMs: number[] = [];
  const call = async (options?: Parameters<Pacer["acquire"]>[0]) => {
    await pacer.acquire(options);
    startsMs.push(time.clock());
  };
  return { time, pacer, startsMs, call };
}

/** Returns the largest number of elements of a sorted list within any window of `windowMs`. */
function mostInWindow(startsMs: readonly number[], windowMs: number): number {
  const counts = startsMs.map(
    (startMs) => startsMs.filter((other) => other >= startMs && other < startMs + windowMs).length,
  );
  return Math.max(0, ...counts);
}

async function collect(paced: ReturnType<typeof createPacer>, count: number): Promise<readonly number[]> {
  const calls = Array.from({ length: count }, () => paced.call());
  await paced.time.run();
  await Promise.all(calls);
  return paced.startsMs;
}

describe("Pacer", () => {
  it("never exceeds the rate in any window of one second, however calls and timers are spaced", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.double({ min: 0.3, max: 30, noNaN: true }),
        fc.array(fc.nat(6_000), { minLength: 1, maxLength: 40 }),
        fc.infiniteStream(fc.nat(25)),
        async (rate, arrivalsMs, lateness) => {
          const { time, call, startsMs } = createPacer(rate);
          time.lateness = () => lateness.next().value ?? 0;
          const calls = arrivalsMs.map(async (atMs) => {
            await time.sleep(atMs);
            await call();
          });
          await time.run();
          await Promise.all(calls);
          expect(startsMs).toHaveLength(arrivalsMs.length);
          const windowMs = Math.max(1_000, 1_000 / rate);
          expect(mostInWindow(startsMs, windowMs)).toBeLessThanOrEqual(Math.max(1, Math.floor(rate)));
        },
      ),
      { numRuns: countRuns(150) },
    );
  });

  it("never exceeds five calls per server second, even if calls take different times to arrive", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(999), fc.infiniteStream(fc.nat(9)), async (offsetMs, jitter) => {
        const paced = createPacer(5, new VirtualTime(offsetMs));
        const startsMs = await collect(paced, 60);
        const perSecond = new Map<number, number>();
        for (const startMs of startsMs) {
          const second = Math.floor((startMs + (jitter.next().value ?? 0)) / 1_000);
          perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
        }
        expect(Math.max(...perSecond.values())).toBeLessThanOrEqual(5);
      }),
      { numRuns: countRuns(60) },
    );
  });

  it("never lets a service receive six calls in a second, even if connections and calls are delayed", async () => {
    const delays = fc.record({
      connectMs: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.nat(300)),
      travelMs: fc.oneof({ weight: 9, arbitrary: fc.nat(4) }, fc.nat(90)),
    });
    await fc.assert(
      fc.asyncProperty(fc.infiniteStream(delays), fc.integer({ min: 1, max: 3 }), async (stream, count) => {
        const time = new VirtualTime();
        const store = new MemoryPace({ isShared: true });
        const receivedMs: number[] = [];
        const process = async (at: number) => {
          const pacer = new Pacer({ ratePerSecond: 5, clock: time.clock, sleep: time.sleep, store, id: `${at}` });
          for (let call = 0; call < 20; call += 1) {
            const paced = await pacer.acquire();
            const { connectMs, travelMs } = stream.next().value;
            await time.sleep(connectMs);
            paced.sent();
            await time.sleep(travelMs);
            receivedMs.push(time.clock());
            await time.sleep(10);
            paced.answered();
          }
        };
        const all = Promise.all(Array.from({ length: count }, (_, at) => process(at)));
        await time.run();
        await all;
        expect(receivedMs).toHaveLength(20 * count);
        expect(mostInWindow(receivedMs, 1_000)).toBeLessThanOrEqual(5);
      }),
      { numRuns: countRuns(60) },
    );
  });

  it("uses at least 98 % of the rate, however long each call takes", async () => {
    const time = new VirtualTime();
    const pacer = new Pacer({ ratePerSecond: 5, clock: time.clock, sleep: time.sleep });
    const receivedMs: number[] = [];
    const calls = Array.from({ length: 310 }, async () => {
      const paced = await pacer.acquire();
      paced.sent();
      await time.sleep(150);
      receivedMs.push(time.clock());
      await time.sleep(150);
      paced.answered();
    });
    await time.run();
    await Promise.all(calls);
    expect(receivedMs.filter((atMs) => atMs < 60_150).length).toBeGreaterThanOrEqual(294);
  });

  it("uses at least 98 % of the rate, even with late timers", async () => {
    const paced = createPacer(5);
    let timers = 0;
    paced.time.lateness = () => (++timers % 10 === 0 ? 15 : 2);
    const startsMs = await collect(paced, 310);
    expect(startsMs.filter((startMs) => startMs < 60_000).length).toBeGreaterThanOrEqual(294);
  });

  it("supports rates below one per second", async () => {
    const startsMs = await collect(createPacer(0.5), 4);
    expect(startsMs).toEqual([0, 2_020, 4_040, 6_060]);
  });

  it("does not limit at rate 0, but still applies holds", async () => {
    const paced = createPacer(0);
    expect(await collect(paced, 100)).toEqual(Array.from({ length: 100 }, () => 0));
    paced.pacer.hold(700);
    expect((await collect(paced, 1)).at(-1)).toBe(700);
  });

  it("starts calls in order", async () => {
    const { time, pacer } = createPacer(5);
    const order: number[] = [];
    const calls = [1, 2, 3, 4, 5].map(async (number) => {
      await pacer.acquire();
      order.push(number);
    });
    await time.run();
    await Promise.all(calls);
    expect(order).toEqual([1, 2, 3, 4, 5]);
  });

  it("keeps the order if a waiting call is aborted", async () => {
    const { time, call, startsMs } = createPacer(5);
    const gone = new AbortController();
    const calls = [call(), call({ signal: gone.signal }), call({ signal: gone.signal }), call()];
    const outcomes = Promise.allSettled(calls);
    await settle();
    gone.abort(new Error("stop"));
    await time.run();
    expect((await outcomes).map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected", "fulfilled"]);
    expect(startsMs).toEqual([0, 202]);
  });

  it("keeps the order if a call is aborted while one before it waits for its start", async () => {
    const { time, pacer, call } = createPacer(5);
    const lateness = [10];
    time.lateness = () => lateness.shift() ?? 0;
    const order: string[] = [];
    const named = async (name: string, signal?: AbortSignal) => {
      await pacer.acquire({ signal });
      order.push(name);
    };
    const gone = new AbortController();
    const calls = Promise.allSettled([call(), named("first"), named("gone", gone.signal), named("last")]);
    await settle();
    gone.abort(new Error("stop"));
    await time.run();
    await calls;
    expect(order).toEqual(["first", "last"]);
  });

  it("rejects at once if the signal is already aborted", async () => {
    const { call } = createPacer(5);
    await expect(call({ signal: AbortSignal.abort(new Error("stop")) })).rejects.toThrow("stop");
  });

  it("waits for the end of a hold, then continues at the rate", async () => {
    const paced = createPacer(5);
    paced.pacer.hold(3_000);
    expect(await collect(paced, 3)).toEqual([3_000, 3_202, 3_404]);
  });

  it("slows down once for simultaneous refusals, then recovers", async () => {
    const paced = createPacer(5);
    paced.pacer.throttle(1_000);
    paced.pacer.throttle(1_000);
    expect(await collect(paced, 2)).toEqual([1_000, 1_303]);
    for (let answer = 0; answer < 10; answer += 1) paced.pacer.recover();
    const [, , third = 0, fourth = 0] = await collect(paced, 2);
    expect(fourth - third).toBe(202);
  });

  it("has a minimum rate", async () => {
    const paced = createPacer(5);
    for (let refusal = 0; refusal < 20; refusal += 1) {
      paced.pacer.throttle(1_000);
      await paced.time.run(paced.time.clock() + 1_000);
    }
    const [first = 0, second = 0] = await collect(paced, 2);
    expect(second - first).toBe(808);
  });

  it("continues if the clock is set back", async () => {
    const time = new VirtualTime(10_000_000);
    const paced = createPacer(5, time);
    await collect(paced, 2);
    time.set(0);
    const [, , third] = await collect(paced, 1);
    expect(third).toBeLessThanOrEqual(202);
  });

  it("reports only waits of at least one second", async () => {
    const events: CallEvent[] = [];
    const onEvent = (event: CallEvent) => events.push(event);
    const { time, call, pacer } = createPacer(5);
    const calls = Array.from({ length: 6 }, () => call({ onEvent }));
    expect(events).toEqual([{ type: "wait", reason: "pace", ms: 1_010, message: expect.stringContaining("1 s") }]);
    await time.run();
    await Promise.all(calls);
    pacer.hold(30_000);
    const held = call({ onEvent });
    expect(events[1]).toEqual({
      type: "wait",
      reason: "throttled",
      ms: 30_000,
      message: expect.stringContaining("30 s"),
    });
    await time.run();
    await held;
  });
});
