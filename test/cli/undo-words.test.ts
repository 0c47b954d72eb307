import { describe, expect, test } from "vitest";
import { describeRuns } from "../../src/cli/commands/unsubscribers/sync-format.ts";
import { describeCounts, describeKey, describeUndone } from "../../src/cli/commands/imports/undo-format.ts";
import { ListedRows, type UndoneRow } from "../../src/import/undo/undo-rows.ts";

const counts = { reversed: 11, kept: 1, impossible: 0 };

describe("the words of an undo", () => {
  test.each([
    ["products", 11, "past", "11 rows were reversed, 1 kept, 0 cannot be"],
    ["products", 1, "past", "1 row was reversed, 1 kept, 0 cannot be"],
    ["coupons", 1, "would", "1 row would be reversed, 1 kept, 0 cannot be"],
    ["orders", 11, "past", "11 rows had their mails stopped (the orders stay), 1 kept, 0 cannot be"],
    ["orders", 1, "past", "1 row had its mails stopped (the order stays), 1 kept, 0 cannot be"],
    ["orders", 2, "would", "2 rows would have their mails stopped (the orders stay), 1 kept, 0 cannot be"],
  ] as const)("of %s, %i reversed, %s", (kind, reversed, tense, words) => {
    expect(describeCounts({ kind, ...counts, reversed }, tense)).toBe(words);
  });

  test("count what is not shown, and one row as one", () => {
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
    expect(describeUndone({ ...found, rows: [] }).slice(1)).toEqual([
      "1 row of the run was never taken: there is nothing to undo of it.",
      "40 rows are not shown here.",
      "What became of each row is in /home/undo.csv",
    ]);
  });

  test("name an address as a person does, and anything else as it is", () => {
    expect(describeKey("unsubscribers", "1:u1@example.com")).toBe("u1@example.com (type 1)");
    expect(describeKey("orders", "1:2")).toBe("1:2");
  });

  test("name the runs of a sync", () => {
    const summary = { sync_id: "20260101-000000-abcdef", imports: ["20260101-000001-abcdef"] };
    const all = summary as unknown as Parameters<typeof describeRuns>[0];
    expect(describeRuns(all)).toEqual([
      "  sync   20260101-000000-abcdef",
      "  run    20260101-000001-abcdef (starpost imports show|verify|undo …)",
    ]);
    expect(describeRuns({ ...all, sync_id: null })).toEqual([]);
    expect(describeRuns({ ...all, imports: [] })).toEqual([]);
  });
});

describe("rows of an undo on a screen", () => {
  const list = (outcomes: readonly UndoneRow["outcome"][]) => {
    const listed = new ListedRows({ mostListed: 3, listsExceptions: true });
    for (const [line, outcome] of outcomes.entries())
      listed.add({ file: "f", line, key: "k", outcome, reason: "" });
    return listed.rows.map(({ line }) => line);
  };

  test("are all listed where they are few, else only those that were not reversed", () => {
    expect(list(["reversed", "kept", "reversed"])).toEqual([0, 1, 2]);
    expect(list(["reversed", "kept", "reversed", "reversed"])).toEqual([1]);
    expect(list(["reversed", "reversed", "reversed", "reversed"])).toEqual([]);
  });
});
