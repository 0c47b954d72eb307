import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { describe, expect, test } from "vitest";
import { BeforeStore, noteKey } from "../../../../src/import/undo/previous-values.ts";
import type { Decision, UndoTarget } from "../../../../src/import/undo/undo-behavior.ts";
import { UndoStore } from "../../../../src/import/undo/undo-store.ts";
import { ListedRows, type UndoneRow, UndoRows } from "../../../../src/import/undo/undone-run.ts";
import { useTemporaryFolder } from "../../../support/temporary-folder.ts";

const folder = useTemporaryFolder();
let files = 0;
const newPath = () => join(folder, `${files++}`);

describe("the state before a run", () => {
  test("is stored completely or not at all, and found again", async () => {
    const path = newPath();
    expect(BeforeStore.find(path)).toBeUndefined();
    using store = new BeforeStore(path);
    expect(store.ended).toBeUndefined();
    const failing = store.fill(async () => {
      store.add([["a", { name: "A" }]]);
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    expect([store.get("a"), store.ended]).toEqual([undefined, undefined]);
    await store.fill(async () => {
      store.add([
        ["a", { name: "A" }],
        ["b", { name: "B" }],
      ]);
      store.add([["a", { name: "AA" }]]);
    });
    using found = BeforeStore.find(path);
    expect([found?.get("a"), found?.get("b"), found?.get("c"), found?.ended]).toEqual([
      { name: "AA" },
      { name: "B" },
      undefined,
      { whyNot: undefined },
    ]);
  });

  test("may be limited to some keys, or unknown", () => {
    using store = new BeforeStore(newPath());
    store.want(["a", "b"]);
    store.want(["b"]);
    store.add(
      ["a", "c", noteKey].map((key) => [key, { key }] as const),
      { isChosen: true },
    );
    expect([store.get("a"), store.get("c"), store.get(noteKey)]).toEqual([{ key: "a" }, undefined, { key: noteKey }]);
    store.giveUp("not supported");
    expect(store.ended).toEqual({ whyNot: "not supported" });
  });
});

describe("the targets of an undo", () => {
  const reverse = { outcome: "reversed", reason: "back", send: { x: 1 } } as const;

  async function collect(count = 2) {
    const store = new UndoStore(newPath());
    await store.collect(async () => {
      store.add("a", { name: "A", price: "1" }, 2, true);
      store.add("a", { name: "B" }, 3, false);
      for (let at = 1; at < count; at++) store.add(`b${String(at).padStart(4, "0")}`, { at }, 1, true);
    });
    return store;
  }

  test("are decided with what was written, what is stored now, and whether they were sent", async () => {
    using store = await collect();
    await store.storeCurrent(async (add) => {
      add([
        ["a", { name: "now" }],
        ["other", { name: "x" }],
      ]);
      add([["a", { name: "later" }]]);
    });
    const seen: UndoTarget[] = [];
    const decide = (decision: Decision) =>
      store.decide((target) => {
        seen.push(target);
        return target.key === "a" ? decision : { outcome: "kept", reason: "stays" };
      });
    decide(reverse);
    const a = {
      key: "a",
      rows: 5,
      sureRows: 2,
      written: { name: "B", price: "1" },
      now: { name: "now" },
      wasSent: false,
    };
    const b = { key: "b0001", rows: 1, sureRows: 1, written: { at: 1 }, now: undefined, wasSent: false };
    expect(seen).toEqual([a, b]);
    expect([store.counts, store.settled, store.open]).toEqual([
      { reversed: 5, kept: 1, impossible: 0 },
      { reversed: 0, kept: 1, impossible: 0 },
      1,
    ]);
    expect(store.takeNext(5)).toEqual([{ key: "a", send: { x: 1 } }]);
    await store.storeCurrent(async () => {});
    seen.length = 0;
    decide(reverse);
    expect(seen).toEqual([{ ...a, now: undefined, wasSent: true }, b]);
    store.settle([{ key: "a", send: {} }], new Map());
    expect([store.settled, store.open, store.takeNext(5)]).toEqual([{ reversed: 5, kept: 1, impossible: 0 }, 0, []]);
    seen.length = 0;
    decide(reverse);
    expect(seen.map(({ key }) => key)).toEqual(["b0001"]);
    expect(store.outcomeOf("a")).toEqual({ outcome: "reversed", reason: "back" });
    expect(() => store.outcomeOf("c")).toThrow("c");
  });

  test("that the service refuses cannot be undone", async () => {
    using store = await collect();
    store.decide(() => reverse);
    const [first] = store.takeNext(1);
    expect([first?.key, store.open]).toEqual(["a", 2]);
    store.settle([{ key: "a", send: {} }], new Map([["a", "too old"]]));
    expect(store.outcomeOf("a")).toMatchObject({ outcome: "impossible", reason: expect.stringMatching(/too old$/) });
    expect([store.counts, store.open]).toEqual([{ reversed: 1, kept: 0, impossible: 5 }, 1]);
  });

  test("are decided page by page, each once", async () => {
    for (const count of [499, 500, 501, 1_001]) {
      using store = await collect(count);
      const keys: string[] = [];
      store.decide(({ key }) => {
        keys.push(key);
        return reverse;
      });
      expect([keys.length, new Set(keys).size]).toEqual([count, count]);
    }
  });

  test("are collected, and looked up, completely or not at all", async () => {
    using store = await collect();
    const fail = async () => {
      throw new Error("no");
    };
    await expect(store.collect(fail)).rejects.toThrow("no");
    store.decide(() => reverse);
    expect(store.counts.reversed).toBe(6);
    const failing = store.storeCurrent(async (add) => {
      add([["a", { name: "now" }]]);
      await fail();
    });
    await expect(failing).rejects.toThrow("no");
    store.decide(({ now }) => ({ outcome: now ? "kept" : "reversed", reason: "" }));
    expect(store.counts.kept).toBe(0);
    await store.collect(async () => store.add("z", {}, 1, true));
    store.decide(() => reverse);
    expect(store.counts.reversed).toBe(1);
  });
});

describe("the rows of an undone run", () => {
  const row = (line: number, outcome: UndoneRow["outcome"] = "reversed") =>
    ({ file: "a.csv", line, key: `k${line}`, outcome, reason: "x" }) as UndoneRow;

  test("replace the previous file when they are complete", () => {
    const path = newPath();
    const rows = new UndoRows(path);
    for (let line = 2; line < 2_502; line++) rows.add(row(line));
    expect(existsSync(path)).toBe(false);
    rows.close(true);
    const read = () => parse<Record<string, string>>(readFileSync(path), { columns: true });
    expect(read().map((one) => Number(one["line"]))).toEqual(Array.from({ length: 2_500 }, (_, at) => at + 2));
    new UndoRows(path).close(false);
    expect(read()).toHaveLength(2_500);
    expect(readdirSync(folder).filter((name) => name.endsWith(".new"))).toEqual([]);
  });

  test("are listed up to a maximum, or only the exceptions", () => {
    const list = (maxListed: number, listsExceptions: boolean) => {
      const listed = new ListedRows({ maxListed, listsExceptions });
      for (const one of [row(2), row(3, "kept"), row(4), row(5, "impossible")]) listed.add(one);
      return listed.rows.map(({ line }) => line);
    };
    expect([list(4, true), list(3, true), list(1, true), list(3, false)]).toEqual([
      [2, 3, 4, 5],
      [3, 5],
      [3],
      [2, 3, 4],
    ]);
  });
});
