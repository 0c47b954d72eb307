import { expect, it } from "vitest";
import {
  listPositionTags,
  listTimeTags,
  type Range,
  takeRange,
} from "../../../../../src/engine/kernel/lists/search-tags.ts";

const dayMs = 86_400_000;

it("tags IDs in groups of 512, 16,384, and 524,288, and times by day and in groups of 256 days", () => {
  const tagsOf = (id: number, day: number) => listPositionTags({ id, createdMs: day * dayMs });
  expect(tagsOf(1, 0)).toEqual(["a0", "b0", "c0", "d0", "e0"]);
  expect(tagsOf(511, 255.9)).toEqual(["a0", "b0", "c0", "d255", "e0"]);
  expect(tagsOf(512, 256)).toEqual(["a1", "b0", "c0", "d256", "e1"]);
  expect(tagsOf(16_384, 20_000)).toEqual(["a32", "b1", "c0", "d20000", "e78"]);
  // Not limited to 32 bits.
  expect(tagsOf(2 ** 40, 20_000)).toEqual([`a${2 ** 31}`, `b${2 ** 26}`, `c${2 ** 21}`, "d20000", "e78"]);
});

it("takes a range of IDs from either end, with the tags of all its groups", () => {
  const ids = { first: 1, last: 1_000_000 };
  expect(takeRange(ids, 1_024, "down")).toEqual({ first: 998_912, last: 1_000_000, tags: ["a1951", "a1952", "a1953"] });
  expect(takeRange(ids, 1_024, "up")).toEqual({ first: 1, last: 1_535, tags: ["a0", "a1", "a2"] });
  const tags = Array.from({ length: 17 }, (_, at) => `a${1_937 + at}`);
  expect(takeRange(ids, 8_192, "down")).toEqual({ first: 991_744, last: 1_000_000, tags });
  expect(takeRange(ids, 8_193, "down")).toEqual({ first: 983_040, last: 1_000_000, tags: ["b60", "b61"] });
});

it("takes all IDs without tags if there are not more, or very many are wanted", () => {
  const ids = { first: 1, last: 1_000_000 };
  const few = { first: 100, last: 1_200 };
  expect(takeRange(few, 1_024, "up")).toEqual({ ...few, tags: [] });
  expect(takeRange({ ...few, last: 1_536 }, 1_024, "up")).toEqual({
    first: 100,
    last: 1_535,
    tags: ["a0", "a1", "a2"],
  });
  expect(takeRange(ids, 1_000_000, "down")).toEqual({ ...ids, tags: [] });
  expect(takeRange({ first: 1, last: 10 ** 9 }, 16 * 2 ** 19 + 1, "down")).toEqual({
    first: 1,
    last: 10 ** 9,
    tags: [],
  });
  expect(takeRange({ first: 1, last: 10 ** 9 }, 16 * 2 ** 19, "down").tags).toHaveLength(17);
});

it("takes ranges that contain each ID once, and only tags of their IDs", () => {
  for (const direction of ["up", "down"] as const) {
    let left: Range = { first: 300, last: 70_000 };
    let taken = 0;
    for (let wanted = 1_024; left.first <= left.last; wanted *= 8) {
      const range = takeRange(left, wanted, direction);
      const ends = [range.first, range.last].map((id) => listPositionTags({ id, createdMs: 0 }));
      for (const tags of ends)
        expect(range.tags.length === 0 || tags.some((tag) => range.tags.includes(tag))).toBe(true);
      expect(direction === "up" ? range.first : range.last).toBe(direction === "up" ? left.first : left.last);
      left = direction === "up" ? { ...left, first: range.last + 1 } : { ...left, last: range.first - 1 };
      taken += range.last - range.first + 1;
    }
    expect(taken).toBe(69_701);
  }
});

it("tags a range of time by day, or by groups of days, or not at all", () => {
  const tagsOf = (from: number, to: number) => listTimeTags({ first: from * dayMs, last: to * dayMs - 1 });
  expect(tagsOf(20_000, 20_001)).toEqual(["d20000"]);
  expect(tagsOf(20_000.5, 20_002.5)).toEqual(["d20000", "d20001", "d20002"]);
  expect(tagsOf(20_000, 20_033)).toHaveLength(33);
  expect(tagsOf(20_000, 20_034)).toEqual(["e78"]);
  expect(tagsOf(20_000, 20_300)).toEqual(["e78", "e79"]);
  expect(tagsOf(0, 33 * 256)).toHaveLength(33);
  expect(tagsOf(0, 33 * 256 + 1)).toEqual([]);
});
