import * as fc from "fast-check";
import { expect, it } from "vitest";
import { emailAggregates } from "../../../../src/contract/index.ts";
import { formatRange, splitRange, toDay } from "../../../../src/engine/emails/statistics.ts";

const names = (since: string, to: string, aggregate: (typeof emailAggregates)[number]) =>
  splitRange({ start: toDay(since), end: toDay(to) }, aggregate).map(formatRange);

const firstDay = toDay("0000-01-01");
const lastDay = toDay("9999-12-31");

it("splits any period into ranges without gaps or overlaps", () => {
  const days = fc.integer({ min: firstDay, max: lastDay });
  fc.assert(
    fc.property(days, fc.nat(3_700), fc.constantFrom(...emailAggregates), (start, more, aggregate) => {
      const end = Math.min(start + more, lastDay);
      const ranges = splitRange({ start, end }, aggregate);
      expect(ranges[0]?.start).toBe(start);
      expect(ranges.at(-1)?.end).toBe(end);
      for (const [at, range] of ranges.entries()) {
        expect(range.end).toBeGreaterThanOrEqual(range.start);
        if (at > 0) expect(range.start).toBe((ranges[at - 1]?.end ?? NaN) + 1);
      }
    }),
  );
});

it("makes every range full except the last", () => {
  const shortest = { day: 1, week: 7, month: 28, quarter: 89, year: 365 } as const;
  const longest = { day: 1, week: 7, month: 31, quarter: 92, year: 366 } as const;
  const days = fc.integer({ min: firstDay, max: lastDay - 3_700 });
  fc.assert(
    fc.property(days, fc.nat(3_700), fc.constantFrom(...emailAggregates), (start, more, aggregate) => {
      const ranges = splitRange({ start, end: start + more }, aggregate);
      for (const [at, range] of ranges.entries()) {
        const length = range.end - range.start + 1;
        expect(length).toBeLessThanOrEqual(longest[aggregate]);
        if (at < ranges.length - 1) expect(length).toBeGreaterThanOrEqual(shortest[aggregate]);
      }
    }),
  );
});

it("starts monthly ranges on the same day, also after a shorter month", () => {
  expect(names("2027-12-31", "2028-05-01", "month")).toEqual([
    "2027-12-31,2028-01-30",
    "2028-01-31,2028-02-28",
    "2028-02-29,2028-03-30",
    "2028-03-31,2028-04-29",
    "2028-04-30,2028-05-01",
  ]);
});

it("supports years before 100", () => {
  expect(names("0000-01-31", "0000-03-01", "month")).toEqual(["0000-01-31,0000-02-28", "0000-02-29,0000-03-01"]);
  expect(names("0099-06-01", "0101-01-01", "year")).toEqual(["0099-06-01,0100-05-31", "0100-06-01,0101-01-01"]);
});

it("returns one range for a single day", () => {
  for (const aggregate of emailAggregates) {
    expect(names("2026-03-15", "2026-03-15", aggregate)).toEqual(["2026-03-15,2026-03-15"]);
  }
});
