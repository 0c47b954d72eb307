import { describe, expect, test } from "vitest";
import * as comparable from "../../../../src/import/verify/comparable.ts";

describe("comparable values", () => {
  test.each([
    [" Tea ", "Tea"],
    ["a\r\nb\rc", "a\nb\nc"],
    ["  ", null],
    ["", null],
    ["a\nb", "a\nb"],
    [0, "0"],
    [5, "5"],
    [false, "false"],
    [null, null],
    [undefined, undefined],
  ])("of the text %j is %j", (value, expected) => {
    expect(comparable.text(value)).toBe(expected);
    expect(comparable.sentText(value)).toBe(expected ?? undefined);
  });

  test("of long texts are short, and different for different texts", () => {
    const long = "x".repeat(101);
    const [one, other] = [comparable.text(long), comparable.text(`${long.slice(1)}y`)];
    expect(one).not.toBe(other);
    expect(String(one).length).toBeLessThan(150);
    expect(String(one)).toContain("101");
    expect(comparable.text("x".repeat(100))).toBe("x".repeat(100));
    // A surrogate pair is not split.
    expect(String(comparable.text("😀".repeat(60).padStart(121, "x"))).isWellFormed()).toBe(true);
  });

  test.each([
    ["0010.50", "10.5"],
    [10.5, "10.5"],
    ["10.00", "10"],
    [".5", "0.5"],
    ["", null],
    [null, null],
    [undefined, undefined],
    ["about 10", "about 10"],
  ])("of the price %j is %j", (value, expected) => {
    expect(comparable.price(value)).toBe(expected);
  });

  test.each([
    ["2026-01-02", "2026-01-02", "2026-01-02"],
    ["2026-01-02T00:00:00Z", "2026-01-02", "2026-01-02"],
    ["2026-01-02T10:00:00+02:00", "2026-01-02T08:00:00.000Z", "2026-01-02"],
    ["never", "never", "never"],
    [null, null, undefined],
    [undefined, undefined, undefined],
  ])("of the time %j are %j and the day %j", (value, time, day) => {
    expect(comparable.time(value)).toBe(time);
    expect(comparable.sentTime(value)).toBe(time ?? undefined);
    expect(comparable.day(value)).toBe(day);
  });

  test("of an address ignore its case, and of a code its insignificant characters", () => {
    expect(comparable.email("Ann@Mail.EXAMPLE")).toBe("ann@mail.example");
    expect(comparable.email(undefined)).toBeUndefined();
    expect(comparable.sentSpec("00-12 ")).toBe("12");
    expect([comparable.sentSpec("N/A"), comparable.sentSpec(null), comparable.sentSpec("")]).toEqual(
      Array.from({ length: 3 }),
    );
  });
});

describe("compared values", () => {
  const compare = (expected: readonly comparable.Values[], stored: readonly comparable.Values[]) =>
    [...comparable.compareValues(expected, stored)].map((found) => [
      found.field,
      found.expected,
      found.stored,
      found.isSame,
    ]);

  test("are those that are known on both sides", () => {
    const sent = { a: "1", b: "2", c: null, d: undefined, e: "5" };
    const stored = { a: "1", b: "3", c: "x", d: "4", e: undefined };
    expect(compare([sent], [stored])).toEqual([
      ["a", "1", "1", true],
      ["b", "2", "3", false],
      ["c", null, "x", false],
    ]);
    expect(compare([sent], [])).toEqual([]);
  });

  test("of several units are equal regardless of their order", () => {
    const prices = (...values: (string | null | undefined)[]) => values.map((price) => ({ price }));
    expect(compare(prices("2", "1"), prices("1", "2"))).toEqual([["price", "1, 2", "1, 2", true]]);
    expect(compare(prices("2", "1"), prices("1", "3"))).toEqual([["price", "1, 2", "1, 3", false]]);
    expect(compare(prices("2", "2"), prices("2", "2"))).toEqual([["price", "2", "2", true]]);
    expect(compare(prices("2", "2"), prices(null, null))).toEqual([["price", "2", null, false]]);
    expect(compare(prices("2", undefined), prices("2", "3"))).toEqual([]);
  });
});
