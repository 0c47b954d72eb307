import { describe, expect, it } from "vitest";
import {
  codeOfIssue,
  contract,
  isCalendarDate,
  isLegalId,
  maxLength,
  orderProduct,
  shape,
} from "../../../src/contract/index.ts";
import { measureCpu } from "../../support/cpu-time.ts";

type Shape = keyof typeof shape;

/** The error code of a value, or undefined if it is valid. */
function problemOf(name: Shape, value: unknown): string | undefined {
  const parsed = shape[name].safeParse(value);
  const issue = parsed.error?.issues[0];
  return issue && codeOfIssue(issue);
}

it.each([
  ["id", "missing", [undefined, "", "  "]],
  ["id", "bad_type", [null, {}, true]],
  ["id", "too_long", ["x".repeat(maxLength.id + 1)]],
  ["name", "missing", [undefined, " "]],
  ["email", "missing", [undefined]],
  ["email", "bad_type", [5, null]],
  ["email", "bad_email", ["", "a", "a@", "@b", "a@b@c", "a b@c", "<a@b>", "a,b@c"]],
  ["email", "too_long", [`${"x".repeat(maxLength.email)}@b`]],
  ["url", "bad_url", ["", "shop.example", "ftp://a", "http://", "https:///a", "http://a b", "//a"]],
  ["url", "too_long", [`https://a/${"x".repeat(maxLength.url)}`]],
  ["optionalUrl", "bad_url", ["a", "ftp://a"]],
  [
    "date",
    "bad_date",
    [
      "",
      "2024-2-3",
      "03/02/2024",
      "2024-13-01",
      "2024-02-30",
      "2024-02-30T00:00:00Z",
      "2024-02-03T25:00",
      "2024-02-03Z",
      "2024-02-03T",
    ],
  ],
  ["price", "bad_price", ["1,5", "€1", "-1", "1e5", ".", "1.", "9".repeat(33)]],
  ["currency", "bad_currency", ["EU", "12A"]],
  ["boolean", "bad_type", ["yes", 1, null]],
] satisfies [Shape, string, unknown[]][])("%s answers %s to bad values", (name, code, values) => {
  for (const value of values) expect([value, problemOf(name, value)]).toEqual([value, code]);
});

it.each([
  ["url", `http://${"a".repeat(300_000)} `],
  ["optionalUrl", `http://${"a".repeat(300_000)} `],
  ["email", `${"a@".repeat(300_000)} `],
  ["price", `${"1".repeat(300_000)}x`],
] satisfies [Shape, string][])("%s is checked in no time however long a value is", (name, value) => {
  expect(measureCpu(() => expect(problemOf(name, value)).toBeDefined())).toBeLessThan(1_000);
});

it("checks long store domains quickly", () => {
  const account_platform = { shop_domain: `http://${"a".repeat(300_000)} `, platform_type_id: "2" };
  const check = () => contract.account.setPlatform.input.safeParse({ account_platform });
  expect(measureCpu(() => expect(check().success).toBe(false))).toBeLessThan(1_000);
});

it.each([
  ["id", ["1", " 1 ", "ä/b", 17]],
  ["email", ["a@b", "Ann.O'Hara+x@mail.example"]],
  ["url", ["http://a", "HTTPS://a.example/p?q=ü#x", "http://localhost:8080/"]],
  ["optionalUrl", ["", "https://a"]],
  ["date", ["2024-02-29", "1999-12-31", "2024-02-29T23:59:59Z", "2024-02-29 10:00:00.5+0530"]],
  ["time", ["2024-02-29", "2024-02-29T23:59:59.999Z"]],
  ["price", ["", "1", "0.5", ".5", 12.5, "12.50"]],
  ["currency", ["", "EUR", "eur"]],
  ["boolean", [true, "false"]],
  ["count", [0, "0", "200"]],
] satisfies [Shape, unknown[]][])("%s takes good values", (name, values) => {
  for (const value of values) expect([value, problemOf(name, value)]).toEqual([value, undefined]);
});

it("converts numbers to strings, joins tags, and capitalizes currencies", () => {
  expect(shape.id.parse(17)).toBe("17");
  expect(shape.price.parse(12.5)).toBe("12.5");
  expect(shape.tags.parse(["a", "b"])).toBe("a,b");
  expect(shape.currency.parse("eur")).toBe("EUR");
  expect(shape.count.parse("12")).toBe(12);
});

it("reads the day of a date as written, and a time in UTC", () => {
  expect(shape.date.parse("2024-02-29T23:30:00-05:00")).toBe("2024-02-29");
  expect(shape.time.parse("2024-02-29T23:30:00-05:00")).toBe("2024-03-01T04:30:00.000Z");
  expect(shape.time.parse("2024-02-29T23:30")).toBe("2024-02-29T23:30:00.000Z");
  expect(shape.time.parse("2024-02-29")).toBe("2024-02-29T00:00:00.000Z");
});

it("rejects invalid counts", () => {
  for (const value of [-1, 1.5, "-1", "x", "", "1".repeat(17), "9".repeat(16), Number.NaN]) {
    expect(shape.count.safeParse(value).success).toBe(false);
  }
});

describe("isCalendarDate", () => {
  it("handles leap years", () => {
    expect(["2000-02-29", "2024-02-29"].every(isCalendarDate)).toBe(true);
    expect(["1900-02-29", "2023-02-29", "2024-04-31", "2024-00-10", "2024-01-00"].some(isCalendarDate)).toBe(false);
  });
});

it("allows only letters, digits, _, and - in IDs", () => {
  expect(["a", "Z", "0", "_", "-", "-007"].every(isLegalId)).toBe(true);
  expect(["", "a b", "a/b", "a.b", "ä", "a\n"].some(isLegalId)).toBe(false);
});

it("accepts quantities from 0 to 1,000", () => {
  const holds = (quantity: unknown) => orderProduct().safeParse({ name: "a", url: "https://a", quantity }).success;
  expect([undefined, 0, 1, 1_000].every(holds)).toBe(true);
  expect([1.5, 1_001, "2", -1].some(holds)).toBe(false);
});
