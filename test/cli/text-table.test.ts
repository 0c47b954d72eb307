import { describe, expect, test } from "vitest";
import { noPaint } from "../../src/output/paint.ts";
import { layOutFields, layOutTable } from "../../src/output/text-table.ts";
import { fields, table } from "../../src/output/view.ts";

describe("a table", () => {
  const rows = [
    { id: "20260101-000000-abcdef", files: "/a/very/long/path/to/a/file.csv", rows: 1_000 },
    { id: "2", files: "b.csv", rows: 2 },
  ];

  test("is never wider than the terminal", () => {
    for (const width of [40, 60, 80]) {
      const lines = layOutTable(table(rows, ["id", "files", "rows"]), width, noPaint).split("\n");
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width);
    }
  });

  test("shows that something was cut", () => {
    expect(layOutTable(table(rows, ["id", "files", "rows"]), 50, noPaint)).toContain("…");
  });

  test("of nothing is nothing", () => {
    expect(layOutTable(table([], ["id"]), 80, noPaint)).toBe("");
  });

  test("lets no control character through", () => {
    const text = layOutTable(table([{ a: "x\u001b[31my\u0007z\nw" }], ["a"]), 80, noPaint);
    expect(text).toBe("A\nx [31my z w\n");
  });
});

test("a record is a line a field, and nothing of it is cut", () => {
  const long = "x".repeat(500);
  expect(layOutFields(fields({ app_key: "k", url: long, none: null }), noPaint)).toBe(
    `app key  k\nurl      ${long}\nnone\n`,
  );
});
