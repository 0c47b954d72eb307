import { describe, expect, test } from "vitest";
import { impliedScale, RatingTally, readRating } from "../../../../src/records/reviews/rating.ts";

describe("readRating", () => {
  test.each([
    ["5", undefined, 5, 5, true],
    ["1", undefined, 1, 5, true],
    ["4.0", undefined, 4, 5, true],
    ["4,5", undefined, 5, 5, false],
    ["4.4", undefined, 4, 5, false],
    ["0.5", undefined, 1, 5, false],
    ["0.4", undefined, 1, 5, false],
    ["4 stars", undefined, 4, 5, true],
    ["1 star", undefined, 1, 5, true],
    ["4/5", "10", 4, 5, true],
    ["8/10", undefined, 4, 10, false],
    ["7 out of 10", undefined, 4, 10, false],
    ["90%", undefined, 5, 100, false],
    ["10", "10", 5, 10, false],
    ["2", "10", 1, 10, false],
    ["1", "10", 1, 10, false],
    ["60", "100", 3, 100, false],
  ] as const)("reads %s on the scale %s as %i stars", (value, scale, stars, highest, isExact) => {
    expect(readRating(value, scale)).toEqual({ stars, scale: highest, isExact });
  });

  test.each([
    ["0", "5"],
    ["0", "10"],
    ["5.5", "5"],
    ["6", "5"],
    ["11", "10"],
    ["101%", "5"],
    ["11/10", "5"],
    ["4/7", "5"],
    ["-1", "5"],
    ["good", "5"],
    ["", "5"],
    ["1000", "100"],
    ["4 stars!", "5"],
  ] as const)("does not read %s on the scale %s", (value, scale) => {
    expect(readRating(value, scale)).toBeUndefined();
  });
});

describe("impliedScale", () => {
  test.each([
    [["5", "4", "1"], {}],
    [["5", "4.5", "6"], {}],
    [["10", "8", "3"], { rating_scale: "10" }],
    [["10", "5"], {}],
    [["6", "7"], { rating_scale: "10" }],
    [["10.5", "90"], { rating_scale: "100" }],
    [["100", "80", "20"], { rating_scale: "100" }],
    [["101", "80"], {}],
    [["8/10", "9/10", "9/10", "9"], { rating_scale: "10" }],
    [["good", ""], {}],
    [[], {}],
  ])("of %j is %j", (values, expected) => {
    expect(impliedScale(values)).toEqual(expected);
  });
});

test("RatingTally counts what was converted, by scale", () => {
  const tally = new RatingTally();
  expect([...tally.notices()]).toEqual([]);
  for (const value of ["5", "4.5", "8/10", "6/10"]) {
    const rating = readRating(value);
    if (rating) tally.add(rating);
  }
  const notices = [...tally.notices()];
  expect(notices).toHaveLength(2);
  expect(notices[0]).toMatch(/^1 .*rounded/);
  expect(notices[1]).toMatch(/^2 .*10.*--rating-scale/);
});
