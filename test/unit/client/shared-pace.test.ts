import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { createPaceState, type PaceState, MemoryPace, type PaceStore } from "../../../src/client/pace-state.ts";
import { Pacer } from "../../../src/client/pacer.ts";
import { SharedPace } from "../../../src/client/shared-pace.ts";
import { FileLock } from "../../../src/storage/file-lock.ts";
import { VirtualTime } from "../../support/virtual-time.ts";
import { countRuns } from "../../support/suite-size.ts";

interface Member {
  readonly ratePerSecond: number;
  readonly share?: number;
}

/** Creates several pacers that share a store, each with its own sequence of calls. */
function createGroup(members: readonly Member[], time = new VirtualTime(1_000_000)) {
  const store = new MemoryPace({ isShared: true });
  const startsMs = members.map((): number[] => []);
  const pacers = members.map(
    (member, at) => new Pacer({ ...member, clock: time.clock, sleep: time.sleep, store, id: `p${at}` }),
  );
  /** Starts calls of one pacer until its signal is aborted. */
  const run = async (at: number, { signal, answerMs = 0 }: { signal?: AbortSignal; answerMs?: number } = {}) => {
    for (;;) {
      await pacers[at]?.acquire({ ...(signal && { signal }) });
      startsMs[at]?.push(time.clock());
      if (answerMs > 0) await time.sleep(answerMs);
    }
  };
  return { time, pacers, startsMs, run };
}

const beginMs = 1_000_000;

/** Returns the largest number of starts in any window of one second. */
function mostInSecond(startsMs: readonly number[]): number {
  return Math.max(0, ...startsMs.map((at) => startsMs.filter((other) => other >= at && other < at + 1_000).length));
}

describe("pacers that share a store", () => {
  it("never exceed the rate together, for any rates and timer delays", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(1, 2, 3.5, 5, 5, 8), { minLength: 2, maxLength: 4 }),
        fc.infiniteStream(fc.nat(30)),
        async (rates, lateness) => {
          const { time, startsMs, run } = createGroup(rates.map((ratePerSecond) => ({ ratePerSecond })));
          time.lateness = () => lateness.next().value ?? 0;
          for (const at of rates.keys()) void run(at);
          await time.run(beginMs + 20_000);
          expect(mostInSecond(startsMs.flat().toSorted((a, b) => a - b))).toBeLessThanOrEqual(
            Math.floor(Math.max(...rates)),
          );
          for (const [at, rate] of rates.entries()) {
            expect(mostInSecond(startsMs[at] ?? [])).toBeLessThanOrEqual(Math.floor(rate));
            expect(startsMs[at]?.length).toBeGreaterThan(3);
          }
        },
      ),
      { numRuns: countRuns(40) },
    );
  });

  it("take turns: each of two starts 40 to 60 of 100 calls, and together they use 97 % of the rate", async () => {
    const { time, startsMs, run } = createGroup([{ ratePerSecond: 5 }, { ratePerSecond: 5 }]);
    let timers = 0;
    time.lateness = () => (++timers % 7 === 0 ? 12 : 2);
    void run(0);
    void run(1, { answerMs: 60 });
    await time.run(beginMs + 60_000);
    const [one = 0, other = 0] = startsMs.map(({ length }) => length);
    expect(one / (one + other)).toBeGreaterThan(0.4);
    expect(one / (one + other)).toBeLessThan(0.6);
    expect(one + other).toBeGreaterThanOrEqual(291);
  });

  it("give the complete rate to one pacer if the other disappears", async () => {
    const { time, startsMs, run } = createGroup([{ ratePerSecond: 5 }, { ratePerSecond: 5 }]);
    const gone = new AbortController();
    void run(0);
    run(1, { signal: gone.signal }).catch(() => {});
    await time.run(beginMs + 10_000);
    gone.abort(new Error("killed"));
    await time.run(beginMs + 30_000);
    const after = (startsMs[0] ?? []).filter((at) => at >= beginMs + 11_000);
    expect(after.length).toBeGreaterThanOrEqual(92);
  });

  it("limit one to its share, and give the rest to the others", async () => {
    const { time, startsMs, run } = createGroup([{ ratePerSecond: 5, share: 0.4 }, { ratePerSecond: 5 }]);
    void run(0);
    void run(1);
    await time.run(beginMs + 30_000);
    const [shared = [], rest = []] = startsMs;
    expect(mostInSecond(shared)).toBeLessThanOrEqual(2);
    expect(shared.length).toBeGreaterThanOrEqual(54);
    expect(shared.length + rest.length).toBeGreaterThanOrEqual(145);
  });

  it("limit one to its share even if it is alone", async () => {
    const { time, startsMs, run } = createGroup([{ ratePerSecond: 5, share: 0.6 }]);
    void run(0);
    await time.run(beginMs + 20_000);
    expect(mostInSecond(startsMs[0] ?? [])).toBe(3);
    expect(startsMs[0]?.length).toBeGreaterThanOrEqual(58);
  });

  it("share holds and slowdowns", async () => {
    const { time, startsMs, pacers, run } = createGroup([{ ratePerSecond: 5 }, { ratePerSecond: 5 }]);
    void run(0);
    void run(1);
    await time.run(beginMs + 2_000);
    pacers[0]?.throttle(3_000);
    await time.run(beginMs + 9_000);
    const others = startsMs
      .flat()
      .filter((at) => at > beginMs + 2_000)
      .toSorted((a, b) => a - b);
    expect(others[0]).toBeGreaterThanOrEqual(beginMs + 5_000);
    expect((others[1] ?? 0) - (others[0] ?? 0)).toBeGreaterThanOrEqual(300);
  });

  it("report a wait that another pacer caused", async () => {
    const { time, pacers } = createGroup([{ ratePerSecond: 5 }, { ratePerSecond: 5 }]);
    pacers[0]?.hold(20_000);
    const waits: object[] = [];
    const call = pacers[1]?.acquire({
      onEvent: (event) => {
        if (event.type === "wait") waits.push(event);
      },
    });
    await time.run();
    await call;
    expect(waits).toEqual([expect.objectContaining({ reason: "throttled", ms: 20_000 })]);
  });
});

describe("a pacer that learns of a wait only from the store", () => {
  /** A store whose state other processes have changed since it was last seen. */
  class StalePace extends MemoryPace {
    readonly real = createPaceState();
    override async use<T>(change: (state: PaceState) => T): Promise<T> {
      const result = change(this.real);
      Object.assign(this.seen, structuredClone(this.real));
      return result;
    }
  }

  it.each([
    ["reports it once", true, 20_000, [20_000]],
    ["reports nothing if it is short", true, 900, []],
    ["reports nothing if the store is its own", false, 20_000, []],
  ])("%s", async (_what, isShared, holdMs, expected) => {
    const time = new VirtualTime(beginMs);
    const store = new StalePace({ isShared });
    store.real.heldUntilMs = beginMs + holdMs;
    const pacer = new Pacer({ ratePerSecond: 5, clock: time.clock, sleep: time.sleep, store });
    const waits: number[] = [];
    const call = pacer.acquire({
      onEvent: (event) => {
        if (event.type === "wait") waits.push(event.ms);
      },
    });
    await time.run();
    await call;
    expect([waits, time.clock()]).toEqual([expected, beginMs + holdMs]);
  });
});

describe("SharedPace", () => {
  const folder = mkdtempSync(join(tmpdir(), "starpost-pace-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  let files = 0;

  function open(path: string, time: VirtualTime) {
    const failures: unknown[] = [];
    const store = new SharedPace({
      path: `${path}.json`,
      openLock: () => new FileLock(`${path}.lock`),
      clock: time.clock,
      sleep: time.sleep,
      random: () => 0.5,
      onFailure: (error) => failures.push(error),
    });
    return { store, failures };
  }

  const newPath = () => join(folder, `${++files}`, "limit");
  const addStart = (store: PaceStore, atMs: number) =>
    store.use((state) => {
      state.startsMs.push(atMs);
      state.seenMs = atMs;
    });

  it("stores its state in a private file", async () => {
    const [path, time] = [newPath(), new VirtualTime(5_000)];
    const [one, other] = [open(path, time), open(path, time)];
    await addStart(one.store, 5_000);
    await addStart(other.store, 5_000);
    expect(await one.store.use((state) => [...state.startsMs])).toEqual([5_000, 5_000]);
    expect(statSync(`${path}.json`).mode & 0o777).toBe(0o600);
    expect(statSync(`${path}.lock`).mode & 0o777).toBe(0o600);
    expect(statSync(join(path, "..")).mode & 0o777).toBe(0o700);
    one.store.close();
    other.store.close();
    expect([...one.failures, ...other.failures]).toEqual([]);
  });

  it("waits for the lock without blocking", async () => {
    const [path, time] = [newPath(), new VirtualTime(5_000)];
    const { store } = open(path, time);
    const lock = new FileLock(`${path}.lock`);
    expect(lock.take()).toBe(true);
    let isDone = false;
    const used = addStart(store, 5_000).then(() => (isDone = true));
    store.changeSoon((state) => (state.heldUntilMs = 9_000));
    await time.run(5_050);
    expect(isDone).toBe(false);
    lock.release();
    await time.run();
    await used;
    expect(store.seen.heldUntilMs).toBe(9_000);
    lock.close();
    store.close();
  });

  it.each([
    { startsMs: "x" },
    { startsMs: [null, {}], dueMs: "a" },
    { participants: { p: null } },
    { participants: "all" },
    { slowdown: "much", heldUntilMs: {} },
  ])("continues and releases the lock if the file contains %j", async (content) => {
    const path = newPath();
    const time = new VirtualTime(1_000_000);
    const [one, two] = [open(path, time), open(path, time)];
    await addStart(one.store, 1_000_000);
    writeFileSync(`${path}.json`, JSON.stringify({ ...content, seenMs: 1_000_000 }));
    const startsMs: number[] = [];
    for (const [at, { store }] of [one, two].entries()) {
      const pacer = new Pacer({ ratePerSecond: 5, clock: time.clock, sleep: time.sleep, store, id: `p${at}` });
      void pacer.acquire().then(() => startsMs.push(time.clock()));
    }
    await time.run(1_002_000);
    expect(startsMs).toHaveLength(2);
    expect([one.failures, two.failures]).toEqual([[], []]);
    one.store.close();
    two.store.close();
  });

  it.each(["", "{", "null", '{"startsMs":'])("treats a file that contains %j as empty", async (text) => {
    const [path, time] = [newPath(), new VirtualTime(5_000)];
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(`${path}.json`, text);
    const { store, failures } = open(path, time);
    expect(await store.use(({ startsMs, slowdown }) => ({ startsMs: [...startsMs], slowdown }))).toEqual({
      startsMs: [],
      slowdown: 1,
    });
    await addStart(store, 5_000);
    expect(JSON.parse(readFileSync(`${path}.json`, "utf8"))).toMatchObject({ startsMs: [5_000] });
    expect(failures).toEqual([]);
    store.close();
  });

  it("discards an earlier run, but not a hold that still applies", async () => {
    const [path, time] = [newPath(), new VirtualTime(1_000_000)];
    const { store } = open(path, time);
    await store.use((state) => {
      Object.assign(state, { startsMs: [1], slowdown: 4, heldUntilMs: 1_070_000, seenMs: 1_000_000 });
    });
    time.set(1_060_001);
    expect(await store.use(({ startsMs, slowdown, heldUntilMs }) => [startsMs, slowdown, heldUntilMs])).toEqual([
      [],
      1,
      1_070_000,
    ]);
    store.close();
  });

  it("continues without sharing and warns once if the folder is not writable", async () => {
    const [path, time] = [newPath(), new VirtualTime(5_000)];
    // A file in place of the folder fails for root as well.
    mkdirSync(join(path, "..", ".."), { recursive: true });
    writeFileSync(join(path, ".."), "");
    chmodSync(join(path, ".."), 0o600);
    const { store, failures } = open(path, time);
    await addStart(store, 5_000);
    await addStart(store, 5_001);
    store.changeSoon((state) => (state.heldUntilMs = 7_000));
    expect(store.seen).toMatchObject({ startsMs: [5_000, 5_001], heldUntilMs: 7_000 });
    expect(failures).toHaveLength(1);
    expect(store.isShared).toBe(false);
    expect(existsSync(`${path}.json`)).toBe(false);
  });

  it("continues without sharing if the lock is never released", async () => {
    const [path, time] = [newPath(), new VirtualTime(5_000)];
    const lock = new FileLock(`${path}.lock`);
    lock.take();
    const { store, failures } = open(path, time);
    const used = addStart(store, 5_000);
    await time.run();
    await used;
    expect(failures).toEqual([expect.any(Error)]);
    lock.close();
  });
});
