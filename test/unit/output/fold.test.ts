import { expect, it } from "vitest";
import { foldLine } from "../../../src/terminal/wrap-text.ts";

it("leaves a line that fits as it is", () => {
  expect(foldLine("  name  value  what it is", 80)).toEqual(["  name  value  what it is"]);
});

it("goes on under the last column", () => {
  expect(foldLine("  name  14  days from the date of an order to its requests", 40)).toEqual([
    "  name  14  days from the date of an",
    "            order to its requests",
  ]);
});

it("keeps no column that leaves words too little room", () => {
  expect(foldLine(`  name  ${"x".repeat(20)}  one two three`, 40)).toEqual([
    `  name  ${"x".repeat(20)}  one two`,
    "        three",
  ]);
});

it("never cuts a word, and loses none", () => {
  const line = `see https://shop.example/${"a".repeat(60)} for the rest of it`;
  const folded = foldLine(line, 40);
  expect(folded.join(" ")).toBe(line);
  expect(folded.some((part) => part.includes("a".repeat(60)))).toBe(true);
});
