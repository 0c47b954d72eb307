import { expect, test } from "vitest";
import { alignRows, formatSections } from "../../../src/terminal/sections.ts";

const sections = [
  {
    title: "Counts",
    rows: [
      ["orders", "12", "kept"],
      ["reviews", "3", ""],
    ],
  },
  { title: "Nothing", rows: [] },
  { rows: [["a", "", "b"]], notes: ["The end."] },
];

test("sections align their own columns, and those without lines are omitted", () => {
  expect(formatSections(sections, { rightColumn: 1 })).toEqual([
    "Counts",
    "  orders   12  kept",
    "  reviews   3",
    "",
    "  a  b",
    "The end.",
  ]);
});

test("sections can share their columns", () => {
  expect(formatSections(sections, { isShared: true }).at(-2)).toBe("  a            b");
});

test("rows can be truncated, and start without spaces", () => {
  expect(
    alignRows(
      [
        ["one", "two"],
        ["three", "four"],
      ],
      { indent: "", maxWidth: 9 },
    ),
  ).toEqual(["one    t…", "three  f…"]);
});
