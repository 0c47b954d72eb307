import { describe, expect, it } from "vitest";
import { loadLayout, narrowLayout, wrapLine } from "../../../src/terminal/text-layout.ts";

it("keeps a line that fits", () => {
  expect(wrapLine("  name  value  what it is", 80)).toEqual(["  name  value  what it is"]);
});

it("aligns continuation lines with the last column", () => {
  expect(wrapLine("  name  14  days from the date of an order to its requests", 40)).toEqual([
    "  name  14  days from the date of an",
    "            order to its requests",
  ]);
});

it("ignores a column that leaves too little room for text", () => {
  expect(wrapLine(`  name  ${"x".repeat(20)}  one two three`, 40)).toEqual([
    `  name  ${"x".repeat(20)}  one two`,
    "        three",
  ]);
});

it("never splits or drops a word", () => {
  const line = `see https://shop.example/${"a".repeat(60)} for the rest of it`;
  const wrapped = wrapLine(line, 40);
  expect(wrapped.join(" ")).toBe(line);
  expect(wrapped.some((part) => part.includes("a".repeat(60)))).toBe(true);
});

describe.each([
  ["narrow", async () => narrowLayout],
  ["complete", loadLayout],
])("the %s layout", (_name, load) => {
  it("wraps Latin text the same way", async () => {
    const layout = await load();
    expect(layout.wrap("one two  three four", 9)).toEqual(["one two", "three", "four"]);
    expect(layout.wrap(`a ${"x".repeat(12)} b`, 9)).toEqual(["a", "x".repeat(12), "b"]);
  });
});

it("wraps wide characters by the columns that they fill", async () => {
  const layout = await loadLayout();
  expect(layout.wrap("お茶 お茶 お茶", 9)).toEqual(["お茶 お茶", "お茶"]);
});
