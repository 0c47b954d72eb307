import { describe, expect, test } from "vitest";
import { idempotencyKeys, ServiceError } from "../../../../src/contract/index.ts";
import type { Item } from "../../../../src/import/item.ts";
import type { ImportBehavior } from "../../../../src/import/kind.ts";
import { settle } from "../../../../src/import/run/journal.ts";
import { CallHistory } from "../../../../src/import/send/call-history.ts";
import { isRepeatable, keyOfCall } from "../../../../src/import/send/delivery.ts";
import { callSizeOf, Chunker, largeCallSizeOf } from "../../../../src/import/send/chunks.ts";
import { isConflicting, OverlappingWrites, writesOf } from "../../../../src/import/send/overlapping-writes.ts";
import { kinds } from "../../../support/record-kinds.ts";

const item = (key: string, line: number, more: Partial<Item> = {}): Item => ({
  key,
  batchKey: "",
  rows: [{ file: 0, line, cells: [] }],
  size: 10,
  payload: undefined,
  ...more,
});

function chunksOf(items: readonly Item[], maxItems = 3) {
  const chunker = new Chunker(maxItems);
  const chunks = [...items.map((one) => chunker.add(one)), chunker.flush(), chunker.flush()];
  return chunks.flatMap((chunk) =>
    chunk ? [[chunk.n, chunk.items.map(({ key }) => key).join(""), chunk.extent]] : [],
  );
}

describe("items are divided into calls", () => {
  test("by number", () => {
    expect(chunksOf(["a", "b", "c", "d"].map((key, at) => item(key, at + 2)))).toEqual([
      [0, "abc", "0:2-0:4 3/3"],
      [1, "d", "0:5-0:5 1/1"],
    ]);
    expect(chunksOf([])).toEqual([]);
  });

  test("by size, by batch key, and never with the same key twice", () => {
    const mib = 1024 * 1024;
    const keysOf = (items: readonly Item[]) => chunksOf(items).map(([n, keys]) => [n, keys]);
    expect(keysOf([item("a", 2, { size: mib - 10 }), item("b", 3), item("c", 4)])).toEqual([
      [0, "ab"],
      [1, "c"],
    ]);
    expect(keysOf([item("a", 2, { size: 2 * mib })])).toEqual([[0, "a"]]);
    expect(keysOf([item("a", 2), item("b", 3, { batchKey: "x" }), item("c", 4, { batchKey: "x" })])).toEqual([
      [0, "a"],
      [1, "bc"],
    ]);
    expect(keysOf([item("a", 2), item("b", 3), item("a", 4), item("b", 5)])).toEqual([
      [0, "ab"],
      [1, "ab"],
    ]);
  });

  test("and named by their first and last rows", () => {
    const rows = [2, 3, 9].map((line) => ({ file: 1, line, cells: [] }));
    expect(chunksOf([item("a", 1), item("b", 2, { rows })])).toEqual([[0, "ab", "0:1-1:9 2/4"]]);
  });

  test("of the size that the kind or the contract states", () => {
    const sizeOf = (kind: string, options = {}) =>
      callSizeOf(kinds.get(kind).prepare({ dryRun: true, map: {}, ...options }));
    const sizes = [sizeOf("orders"), sizeOf("coupons", { action: "map_review" }), sizeOf("reviews")];
    expect(sizes.map(({ recommended = 1, max = Infinity }) => recommended <= max)).toEqual([true, true, true]);
    expect(sizes.map(({ max }) => typeof max)).toEqual(["number", "number", "undefined"]);
  });

  test("and large calls carry 1,000 items at most, within the limit of the kind", () => {
    const sizeOf = (kind: string, options = {}) =>
      largeCallSizeOf(kinds.get(kind).prepare({ dryRun: true, map: {}, ...options }));
    expect(["orders", "products", "unsubscribers", "groups", "reviews"].map((kind) => sizeOf(kind))).toEqual([
      1_000,
      500,
      1_000,
      500,
      undefined,
    ]);
    expect(sizeOf("coupons", { action: "map_review" })).toBe(1_000);
  });
});

describe("writes of calls", () => {
  const behavior = {
    writes: ({ payload }: Item) => Object.entries(payload as Readonly<Record<string, string>>),
  } as unknown as ImportBehavior;
  const chunk = (...payloads: readonly Readonly<Record<string, string>>[]) => ({
    n: 0,
    extent: "",
    items: payloads.map((payload, at) => item(`${at}`, at, { payload })),
  });

  test("conflict if they leave different values in one record", () => {
    const conflicts = (one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>) =>
      isConflicting(writesOf(chunk(one), behavior), writesOf(chunk(other), behavior));
    expect(conflicts({ a: "1" }, { a: "2" })).toBe(true);
    expect(conflicts({ a: "1" }, { b: "1", a: "2" })).toBe(true);
    expect(conflicts({ a: "1" }, { a: "1" })).toBe(false);
    expect(conflicts({ a: "1" }, { b: "2" })).toBe(false);
    expect(writesOf(chunk({ a: "1" }), {})).toEqual(new Map());
  });

  test("of one record within a call do not conflict: the last row wins", () => {
    const last = (...values: readonly string[]) => writesOf(chunk(...values.map((a) => ({ a }))), behavior);
    expect([...last("1", "3", "2")]).toEqual([["a", "2"]]);
    expect(isConflicting(last("1", "2"), last("3", "2"))).toBe(false);
    expect(isConflicting(last("2", "1"), last("2"))).toBe(true);
  });

  test("are compared as JSON", () => {
    const writes = (value: unknown) => new Map([["a", value]]);
    expect(isConflicting(writes({ x: [1] }), writes({ x: [1] }))).toBe(false);
    expect(isConflicting(writes({ x: [1] }), writes({ x: [2] }))).toBe(true);
    expect(isConflicting(writes(undefined), writes("1"))).toBe(true);
  });

  test("overlap if an earlier call was sent later with another value", () => {
    const writes = new OverlappingWrites(behavior);
    expect(writes.overlap(chunk({ a: "2" }), 0)).toBe(false);
    writes.note(chunk({ a: "1", b: "1" }), 5);
    expect(writes.overlap(chunk({ a: "2" }), 4)).toBe(true);
    expect(writes.overlap(chunk({ c: "2" }, { a: "2" }), 4)).toBe(true);
    expect(writes.overlap(chunk({ a: "1" }), 4)).toBe(false);
    expect(writes.overlap(chunk({ a: "2" }), 5)).toBe(false);
    expect(writes.overlap(chunk({ c: "2" }), 4)).toBe(false);
    writes.note(chunk({ a: "3" }), 2);
    expect(writes.overlap(chunk({ a: "2" }), 4)).toBe(true);
    expect(writes.overlap(chunk({ a: "3" }), 4)).toBe(false);
    writes.note(chunk({ a: "3" }), 9);
    expect(writes.overlap(chunk({ a: "2" }), 8)).toBe(true);
    const none = new OverlappingWrites({} as ImportBehavior);
    none.note(chunk({ a: "1" }), 5);
    expect(none.overlap(chunk({ a: "2" }), 4)).toBe(false);
  });
});

describe("the key of a call", () => {
  const chunk = { n: 0, items: [], extent: "0:1-0:2 2/2" };
  const items = [item("a", 1), item("b", 2)];
  const keyOf = (behavior: Partial<ImportBehavior>, run: string | undefined = "run", of = chunk, what = items) =>
    keyOfCall({ operation: "orders.massCreate", ...behavior } as ImportBehavior, run, of, what);

  test("depends on the run, the call, and its items, or only on the items", () => {
    const key = keyOf({ keyedBy: "run" });
    expect(key).toMatch(/^starpost-[\w-]{43}$/);
    expect(keyOf({ keyedBy: "run" })).toBe(key);
    const others = [
      keyOf({ keyedBy: "run" }, "other"),
      keyOf({ keyedBy: "run" }, "run", { ...chunk, extent: "0:1-0:3 2/2" }),
      keyOf({ keyedBy: "run" }, "run", chunk, items.slice(1)),
      keyOf({ keyedBy: "run", operation: "coupons.upload" }),
      keyOf({ keyedBy: "items" }),
    ];
    expect(new Set([key, ...others]).size).toBe(6);
    expect(keyOf({ keyedBy: "items" }, "other", { ...chunk, extent: "" })).toBe(keyOf({ keyedBy: "items" }));
    expect(keyOf({})).toBeUndefined();
    expect(
      keyOfCall({ keyedBy: "run", operation: "orders.massCreate" } as ImportBehavior, undefined, chunk, items),
    ).toBeUndefined();
  });

  test("allows a repeat until an hour before the service may forget it", () => {
    const safeMs = idempotencyKeys.lifetimeMs - 3_600_000;
    const settled = {
      ...settle([]),
      honorsKeys: true,
      keyed: new Map([[3, { key: "k", atMs: 1_000 }]]),
      parted: new Set([4]),
    } as unknown as ReturnType<typeof settle>;
    const may = (more: object, n = 3, key = "k", nowMs = 2_000) => isRepeatable({ ...settled, ...more }, n, key, nowMs);
    expect(may({})).toBe(true);
    expect(may({ honorsKeys: false })).toBe(false);
    expect(may({ parted: new Set([3]) })).toBe(false);
    expect([may({}, 2), may({}, 3, "other")]).toEqual([false, false]);
    expect([may({}, 3, "k", 1_000), may({}, 3, "k", 999)]).toEqual([true, false]);
    expect([may({}, 3, "k", 999 + safeMs), may({}, 3, "k", 1_000 + safeMs)]).toEqual([true, false]);
  });
});

describe("the history of calls", () => {
  const error = new ServiceError("bodyTooLarge", "big");
  const open = (hasTaken = false, maxItems?: number) => {
    const smaller: (readonly [number, ServiceError])[] = [];
    const history = new CallHistory({ hasTaken, maxItems, onSmaller: (...given) => smaller.push(given) });
    return { history, smaller };
  };

  test("halves calls, and reports it once a smaller one succeeds", () => {
    const { history, smaller } = open();
    expect([history.maxItems, history.taken]).toEqual([Infinity, 0]);
    history.shrink(7, error);
    expect(history.maxItems).toBe(4);
    history.shrink(9, error);
    expect(history.maxItems).toBe(4);
    expect(smaller).toEqual([]);
    history.noteTaken();
    history.noteTaken();
    expect([smaller, history.taken]).toEqual([[[4, error]], 2]);
    history.shrink(1, error);
    expect(history.maxItems).toBe(1);
    history.shrink(1, error);
    history.noteTaken();
    expect(smaller).toHaveLength(2);
    expect(open(true, 5).history).toMatchObject({ maxItems: 5, taken: 1 });
  });

  test("blames an item once in a row, if the service accepted something before", () => {
    const { history } = open();
    expect(history.mayBlameBlindly()).toBe(false);
    history.noteTaken();
    expect([history.mayBlameBlindly(), history.mayBlameBlindly()]).toEqual([true, false]);
    history.noteTaken();
    expect(history.mayBlameBlindly()).toBe(true);
    expect(open(true).history.mayBlameBlindly()).toBe(true);
  });

  test("stops after 50 refused items in a row", () => {
    const { history } = open();
    const refuse = (times: number) => {
      for (let time = 0; time < times; time++) history.noteRefusedAlone(error, { one: "code", many: "codes" });
    };
    refuse(49);
    history.noteTaken();
    refuse(49);
    expect(() => refuse(1)).toThrow(expect.objectContaining({ kind: "failed", cause: error }));
  });
});
