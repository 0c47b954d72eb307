import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ServiceError } from "../../../../src/contract/index.ts";
import { sendInParts } from "../../../../src/import/send/bisection.ts";
import { CallHistory } from "../../../../src/import/send/call-history.ts";
import type { Item } from "../../../../src/import/item.ts";
import { readCallRefusal } from "../../../../src/import/check/service-errors.ts";
import { countRuns } from "../../../support/suite-size.ts";

const itemName = { one: "order", many: "orders" };

function itemsOf(count: number): Item[] {
  return Array.from({ length: count }, (_, at) => ({
    key: `o-${at}`,
    batchKey: "",
    rows: [{ file: 0, line: at + 2, cells: [] }],
    size: 10,
    payload: undefined,
  }));
}

interface Script {
  /** Returns the error for a call with these items, or undefined if it succeeds. */
  readonly fail: (keys: readonly string[], call: number) => ServiceError | undefined;
  readonly hasTaken?: boolean;
  readonly probe?: () => boolean;
}

/** Creates a service that fails as `meets` determines, and records its calls. */
function createScripted({ fail, hasTaken = false, probe = () => true }: Script) {
  const calls: { keys: readonly string[]; maxAttempts: number | undefined }[] = [];
  const stored = new Set<string>();
  const smaller: number[] = [];
  const history = new CallHistory({ hasTaken, onSmaller: (maxItems) => smaller.push(maxItems) });
  let probes = 0;
  const send = (items: readonly Item[]) =>
    sendInParts(items, {
      send: async (part, maxAttempts) => {
        const keys = part.map(({ key }) => key);
        calls.push({ keys, maxAttempts });
        const error = fail(keys, calls.length);
        if (error) throw error;
        for (const key of keys) stored.add(key);
        return new Map();
      },
      history,
      itemName,
      probe: async () => {
        probes++;
        return probe();
      },
      mustEnd: () => false,
      readRefusal: (error) => readCallRefusal(error, itemName),
    });
  return { calls, stored, smaller, history, send, probes: () => probes };
}

const refusal = () => new ServiceError("invalidParams", "no");
const failure = () => new ServiceError("internal", "internal error", { outcomeUnknown: true });
const lateness = () => new ServiceError("timeout", "no answer", { outcomeUnknown: true });
const tooLarge = () => new ServiceError("bodyTooLarge", "the body is larger than this server takes");

/** Items of a call and the poison ones among them, few enough that the service does not seem to be down. */
const poisoned = fc
  .integer({ min: 2, max: 1_000 })
  .chain((count) =>
    fc.tuple(
      fc.constant(count),
      fc.uniqueArray(fc.nat(count - 1), { minLength: 1, maxLength: Math.min(5, count - 1) }),
    ),
  );

function boundOf(count: number, poison: number): number {
  return 2 * poison * Math.ceil(Math.log2(count)) + 1;
}

describe("a call that is rejected because of some items", () => {
  test.each([
    ["refused", refusal, "call_refused"],
    ["failing", failure, "call_failed"],
  ] as const)("%s: exactly those are rejected, in about 2·k·log2(n) calls", async (_name, makeError, code) => {
    await fc.assert(
      fc.asyncProperty(poisoned, async ([count, places]) => {
        const poison = new Set(places.map((at) => `o-${at}`));
        const service = createScripted({
          fail: (keys) => (keys.some((key) => poison.has(key)) ? makeError() : undefined),
        });
        const items = itemsOf(count);
        const problems = await service.send(items);
        expect(new Set([...problems.keys()].map(({ key }) => key))).toEqual(poison);
        expect(new Set([...problems.values()].map((problem) => problem.code))).toEqual(new Set([code]));
        expect(service.stored.size).toBe(count - poison.size);
        expect(service.calls.length).toBeLessThanOrEqual(boundOf(count, poison.size));
      }),
      { numRuns: countRuns(200) },
    );
  });

  test("each item has the service's message", async () => {
    const service = createScripted({
      fail: (keys) => (keys.includes("o-7") ? new ServiceError("invalidParams", "name is odd") : undefined),
    });
    const problems = await service.send(itemsOf(10));
    expect([...problems.values()]).toEqual([
      { field: "", code: "call_refused", reason: expect.stringContaining("name is odd") },
    ]);
  });

  test("partial calls are retried less often, except for single items", async () => {
    const service = createScripted({ fail: (keys) => (keys.includes("o-0") ? failure() : undefined) });
    await service.send(itemsOf(4));
    expect(service.calls.map(({ keys, maxAttempts }) => [keys.length, maxAttempts])).toEqual([
      [4, undefined],
      [2, 2],
      [1, 4],
      [1, 4],
      [2, 2],
    ]);
  });

  test("the run ends if all items are rejected", async () => {
    const service = createScripted({ fail: refusal });
    await expect(service.send(itemsOf(200))).rejects.toMatchObject({
      name: "ImportError",
      kind: "failed",
      message: expect.stringMatching(/50 orders/) as string,
    });
    expect(service.calls.length).toBeLessThan(120);
  });

  test("many rejected items among accepted ones do not end the run", async () => {
    const service = createScripted({
      fail: (keys) => (keys.some((key) => Number(key.slice(2)) % 3 === 0) ? refusal() : undefined),
    });
    expect((await service.send(itemsOf(300))).size).toBe(100);
  });
});

describe("a service that is down", () => {
  test.each([1, 2, 5, 200, 1_000])("fails with every call of %i items: nothing is rejected", async (count) => {
    const service = createScripted({ fail: failure });
    await expect(service.send(itemsOf(count))).rejects.toMatchObject({ kind: "internal" });
    expect(service.calls.length).toBeLessThanOrEqual(24);
    expect(service.stored.size).toBe(0);
  });

  test("that never answers ends the run after three calls", async () => {
    const service = createScripted({ fail: failure, probe: () => false });
    await expect(service.send(itemsOf(200))).rejects.toMatchObject({ kind: "internal" });
    expect(service.calls).toHaveLength(3);
  });

  test("during bisection: nothing is rejected", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 2, max: 300 }),
        fc.nat(299),
        fc.integer({ min: 2, max: 30 }),
        async (count, at, lastCall) => {
          let isDown = false;
          const poison = `o-${at % count}`;
          const service = createScripted({
            fail: (keys, call) => {
              isDown = call > lastCall;
              return isDown || keys.includes(poison) ? failure() : undefined;
            },
            probe: () => !isDown,
          });
          const problems = await service.send(itemsOf(count)).catch((error: unknown) => error);
          if (problems instanceof Map) {
            expect([...(problems as Map<Item, unknown>).keys()].map(({ key }) => key)).toEqual([poison]);
            expect(service.stored.size).toBe(count - 1);
          } else expect(problems).toMatchObject({ kind: "internal" });
        },
      ),
      { numRuns: countRuns(300) },
    );
  });

  test("a single failing item at the end of a successful file is rejected if the service answers", async () => {
    const fail = failure;
    const service = createScripted({ fail, hasTaken: true });
    const [item] = itemsOf(1);
    const problems = await service.send(item ? [item] : []);
    expect([...problems.values()].map(({ code }) => code)).toEqual(["call_failed"]);
    expect(service.probes()).toBe(1);
    await expect(service.send(itemsOf(1))).rejects.toMatchObject({ kind: "internal" });
    const silent = createScripted({ fail, hasTaken: true, probe: () => false });
    await expect(silent.send(itemsOf(1))).rejects.toMatchObject({ kind: "internal" });
  });

  test.each([2, 3, 5, 8])(
    "the last of %i items is rejected if the service carried out calls before it",
    async (count) => {
      const last = `o-${count - 1}`;
      const service = createScripted({ fail: (keys) => (keys.includes(last) ? failure() : undefined), hasTaken: true });
      const problems = await service.send(itemsOf(count));
      const error = { field: "", code: "call_failed", reason: expect.stringContaining("internal error") };
      expect([...problems].map(([{ key }, problem]) => [key, problem])).toEqual([[last, error]]);
    },
  );

  test.each([2, 5])("several failing items (%i) at the end of a successful file are not rejected", async (count) => {
    const service = createScripted({ fail: failure, hasTaken: true });
    await expect(service.send(itemsOf(count))).rejects.toMatchObject({ kind: "internal" });
  });

  test.each([
    ["failing calls, the third of which is doubtful", failure, 1],
    ["late calls, each of which is doubtful", lateness, 3],
  ])("is probed after %s", async (_name, makeError, probes) => {
    const service = createScripted({ fail: (_keys, call) => (call <= 3 ? makeError() : undefined) });
    expect(await service.send(itemsOf(8))).toEqual(new Map());
    expect(service.probes()).toBe(probes);
    expect(service.stored.size).toBe(8);
  });

  test.each([
    ["24 failing calls", failure, 24],
    ["12 late calls", lateness, 12],
  ])("is down after %s in a row, although it answers probes", async (_name, makeError, calls) => {
    const service = createScripted({ fail: makeError });
    await expect(service.send(itemsOf(32_768))).rejects.toMatchObject({ kind: makeError().kind });
    expect(service.calls).toHaveLength(calls);
  });

  test("a call rejected because of its sender is not split", async () => {
    for (const kind of ["unauthorized", "recordNotFound", "featureDisabled", "tooManyRequests"] as const) {
      const service = createScripted({ fail: () => new ServiceError(kind, "no") });
      await expect(service.send(itemsOf(20))).rejects.toMatchObject({ kind });
      expect(service.calls).toHaveLength(1);
    }
    const away = createScripted({ fail: () => new ServiceError("unavailable", "nothing answers there") });
    await expect(away.send(itemsOf(20))).rejects.toMatchObject({ kind: "unavailable" });
    expect(away.calls).toHaveLength(1);
  });
});

describe("calls that are too large", () => {
  const sizes = (service: ReturnType<typeof createScripted>) => service.calls.map(({ keys }) => keys.length);

  test.each([
    ["413", tooLarge],
    ["late", lateness],
  ] as const)("%s: are halved for the rest of the run, with one message per size", async (_name, makeError) => {
    const service = createScripted({ fail: (keys) => (keys.length > 60 ? makeError() : undefined) });
    expect(await service.send(itemsOf(200))).toEqual(new Map());
    expect(sizes(service)).toEqual([200, 100, 50, 50, 50, 50]);
    expect(service.smaller).toEqual([50]);
    await service.send(itemsOf(120));
    expect(sizes(service).slice(6)).toEqual([50, 50, 20]);
    expect(service.smaller).toEqual([50]);
    expect(service.stored.size).toBe(200);
  });

  test("are split down to single items", async () => {
    const service = createScripted({ fail: (keys) => (keys.length > 1 ? tooLarge() : undefined) });
    await service.send(itemsOf(9));
    expect(service.stored.size).toBe(9);
    expect(service.smaller).toEqual([1]);
  });

  test("a single item that is too large is rejected", async () => {
    const service = createScripted({ fail: (keys) => (keys.includes("o-3") ? tooLarge() : undefined) });
    const problems = await service.send(itemsOf(8));
    expect([...problems].map(([{ key }, { code }]) => [key, code])).toEqual([["o-3", "too_large"]]);
    expect(service.stored.size).toBe(7);
  });

  test("a service that never answers is down", async () => {
    const service = createScripted({ fail: lateness, probe: () => false });
    await expect(service.send(itemsOf(200))).rejects.toMatchObject({ kind: "timeout" });
    expect(service.calls).toHaveLength(1);
  });
});
