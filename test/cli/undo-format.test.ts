import { describe, expect, test } from "vitest";
import { describeRuns } from "../../src/cli/commands/unsubscribers/sync-run.ts";
import { describeCounts, describeKey, describeUndone } from "../../src/cli/commands/imports/undo-format.ts";
import { ListedRows, type UndoneRow } from "../../src/import/undo/undone-run.ts";

const counts = { reversed: 11, kept: 1, impossible: 0 };

describe("the result of an undo", () => {
  test.each([
    ["products", 11, "past", "11 rows were reverted, 1 kept, 0 cannot be reverted"],
    ["products", 1, "past", "1 row was reverted, 1 kept, 0 cannot be reverted"],
    ["coupons", 1, "would", "1 row would be reverted, 1 kept, 0 cannot be reverted"],
  ] as const)("states the counts for %s, %i reverted, %s", (kind, reversed, tense, text) => {
    expect(describeCounts({ kind, ...counts, reversed }, tense)).toBe(text);
  });

  test("states what an undo of orders does instead", () => {
    expect(describeCounts({ kind: "orders", ...counts }, "past")).toContain("emails canceled");
  });

  test("counts the rows that are not shown", () => {
    const found = {
      import_id: "20260101-000000-abcdef",
      kind: "products",
      state: "finished",
      ...counts,
      reversed: 40,
      kept: 0,
      rows: [],
      rows_file: "/home/undo.csv",
      rows_not_taken: 1,
      calls: 1,
      duration_ms: 1,
    } as const;
    const text = describeUndone({ ...found, rows: [] }).join("\n");
    for (const part of ["1 row ", "40 rows are not shown", "/home/undo.csv"]) expect(text).toContain(part);
  });

  test("formats the key of an address, and no other key", () => {
    expect(describeKey("unsubscribers", "1:u1@example.com")).toBe("u1@example.com (type 1)");
    expect(describeKey("orders", "1:2")).toBe("1:2");
  });

  test("lists the runs of a sync", () => {
    const summary = { sync_id: "20260101-000000-abcdef", imports: ["20260101-000001-abcdef"] };
    const all = summary as unknown as Parameters<typeof describeRuns>[0];
    expect(describeRuns(all)).toEqual([
      expect.stringContaining("20260101-000000-abcdef"),
      expect.stringContaining("imports show 20260101-000001-abcdef"),
      expect.stringContaining("imports undo 20260101-000001-abcdef"),
    ]);
    expect(describeRuns({ ...all, sync_id: null })).toEqual([]);
    expect(describeRuns({ ...all, imports: [] })).toEqual([]);
  });
});

describe("the listed rows of an undo", () => {
  const list = (outcomes: readonly UndoneRow["outcome"][]) => {
    const listed = new ListedRows({ maxListed: 3, listsExceptions: true });
    for (const [line, outcome] of outcomes.entries()) listed.add({ file: "f", line, key: "k", outcome, reason: "" });
    return listed.rows.map(({ line }) => line);
  };

  test("are all rows if they are few, or else only those that were not reverted", () => {
    expect(list(["reversed", "kept", "reversed"])).toEqual([0, 1, 2]);
    expect(list(["reversed", "kept", "reversed", "reversed"])).toEqual([1]);
    expect(list(["reversed", "reversed", "reversed", "reversed"])).toEqual([]);
  });
});
