import { expect, it } from "vitest";
import { listPhrases, listWords, toIndexed } from "../../../src/storage/search-index.ts";

it.each([
  ["", []],
  ["  ... ", []],
  ["The lid LEAKS, a-b_c 1.5", ["the", "lid", "leaks", "a", "b", "c", "1", "5"]],
  ["Süßer TÉ, İstanbul", ["sußer", "te", "istanbul"]],
  ["ﬁne ½ ΣΟΦΟΣ", ["fine", "1", "2", "σοφοσ"]],
  ["新しいpot", ["新", "し", "い", "pot"]],
  ["좋은 제품", listWords("좋은").concat(listWords("제품"))],
])("lists the words of %j", (text, words) => {
  expect(listWords(text)).toEqual(words);
});

it("ignores case and accents, whichever way they are written", () => {
  expect(listWords("Zoe\u0308")).toEqual(listWords("ZOË"));
  expect(listWords("ZOË")).toEqual(["zoe"]);
});

it("limits the length of words, and their number", () => {
  expect(listWords("a".repeat(64))).toEqual(["a".repeat(64)]);
  expect(listWords("a".repeat(65))).toEqual(["a".repeat(64)]);
  expect(listWords(`${"a".repeat(63)}\u{10400}`)).toEqual(["a".repeat(63)]);
  expect(listWords("a ".repeat(16_001))).toHaveLength(16_000);
});

it.each([
  ["lid leaks", [["lid"], ["leaks"]]],
  ['"lid leaks" now', [["lid", "leaks"], ["now"]]],
  ['"lid leaks', [["lid", "leaks"]]],
  ["„lid leaks“ now", [["lid", "leaks"], ["now"]]],
  ['pot"lid leaks"', [["pot"], ["lid", "leaks"]]],
  ["don't (OR *", [["don", "t"], ["or"]]],
  ['" " ""', []],
])("lists the phrases of %j", (search, phrases) => {
  expect(listPhrases(search)).toEqual(phrases);
});

it("indexes words by account", () => {
  expect(toIndexed(12, ["lid", "pot"])).toEqual(["12_lid", "12_pot"]);
});
