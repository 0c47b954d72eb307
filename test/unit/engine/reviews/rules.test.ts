import { expect, it } from "vitest";
import type { ReviewRule } from "../../../../src/contract/index.ts";
import { findRule, type ReviewToCheck } from "../../../../src/engine/reviews/moderation/rules.ts";

let lastId = 0;
function aRule(conditions: Partial<ReviewRule>): ReviewRule {
  lastId += 1;
  const none = { words: [], links: null, min_score: null, max_score: null, verification: null };
  return { id: lastId, action: "hold", ...none, description: "", reason: "", by: "", created_at: "", ...conditions };
}

function aReview(fields: Partial<ReviewToCheck> = {}): ReviewToCheck {
  const texts = { display_name: "Ann Lee", review_title: "Good", review_content: "It pours well." };
  return { ...texts, review_score: 3, reviewer_type: "verified_reviewer", ...fields };
}

const applies = (conditions: Partial<ReviewRule>, fields?: Partial<ReviewToCheck>) =>
  findRule([aRule(conditions)], aReview(fields)) !== undefined;

it("finds the first rule that applies", () => {
  const [other, first, second] = [aRule({ words: ["bad"] }), aRule({ words: ["good"] }), aRule({ min_score: 1 })];
  expect(findRule([other, first, second], aReview())).toBe(first);
  expect(findRule([other], aReview())).toBeUndefined();
  expect(findRule([], aReview())).toBeUndefined();
});

it.each([
  [{ min_score: 3 }, true],
  [{ min_score: 4 }, false],
  [{ max_score: 3 }, true],
  [{ max_score: 2 }, false],
  [{ min_score: 2, max_score: 4 }, true],
  [{ links: 1 }, false],
  [{ words: ["pours"], min_score: 4 }, false],
  [{ words: ["pours"], links: 1 }, false],
])("checks all conditions of %j", (conditions, expected) => {
  expect(applies(conditions)).toBe(expected);
});

it.each([
  ["pours", true],
  ["POURS well", true],
  ["pours  well", true],
  ["lee", true],
  ["good", true],
  ["pour", false],
  ["pour*", true],
  ["ours", false],
  ["ours*", false],
  ["lee good", true],
  ["", false],
  ["*", false],
])("finds the word %j: %s", (word, expected) => {
  expect(applies({ words: ["bad", word] })).toBe(expected);
});

it.each(["c\u200Basino", "ＣＡＳＩＮＯ", "my\ncasino!", "xcasino casino"])("finds a word in %j", (review_content) => {
  expect(applies({ words: ["casino"] }, { review_content })).toBe(true);
});

it("counts links", () => {
  const review_content = "See https://one.example and https://two.example";
  expect([1, 2, 3].map((links) => applies({ links }, { review_content }))).toEqual([true, true, false]);
});

it.each([
  ["verified", "verified_buyer", true],
  ["verified", "verified_reviewer", true],
  ["verified", "anonymous", false],
  ["anonymous", "anonymous", true],
  ["anonymous", "verified_buyer", false],
  ["verified_buyer", "verified_reviewer", false],
] as const)("compares the verification %s with %s", (verification, reviewer_type, expected) => {
  expect(applies({ verification }, { reviewer_type })).toBe(expected);
});
