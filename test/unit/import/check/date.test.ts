import { describe, expect, test } from "vitest";
import { readBoolean, readDate, readTime } from "../../../../src/import/check/date.ts";
import { describeIncomplete } from "../../../../src/import/check/reject-codes.ts";
import { readCallRefusal, readServiceProblem } from "../../../../src/import/check/service-errors.ts";
import { readOutcomes } from "../../../../src/import/check/service-outcomes.ts";
import { proposeLegalId } from "../../../../src/import/check/valid-id.ts";
import {
  couponErrorTexts,
  orderConflictText,
  ServiceError,
  unsubscriberErrorTexts,
} from "../../../../src/contract/index.ts";
import type { RowError } from "../../../../src/import/item.ts";

describe("readDate", () => {
  test.each([
    "2026-01-02",
    "2026/1/2",
    "2026-1-02 3:04",
    "2026-01-02T03:04:05",
    "2026-01-02 at 03:04",
    "2026-01-02 03:04:05.123456",
    "2026-01-02 03:04:05,1",
    "2026-01-02 3:04PM",
    "2026-01-02 3:04:05   am",
    "2026-01-02 03:04Z",
    "2026-01-02 03:04  UTC",
    "2026-01-02 03:04 GMT",
    "2026-01-02 03:04 +0200",
    "2026-01-02 03:04:05-02:00",
    "2026-01-02T03:04:05.000 pm +02:00",
  ])("reads %j", (value) => {
    expect(readDate(value)).toBe("2026-01-02");
  });

  test.each([
    "",
    "x2026-01-02",
    "2026-01-02x",
    "226-01-02",
    "20266-01-02",
    "2026-111-02",
    "2026-01-222",
    "2026.01.02",
    "2026-13-02",
    "2026-02-29",
    "2026-02-30 10:00",
    "2026-01-02 3",
    "2026-01-02  03:04",
    "2026-01-02at03:04",
    "2026-01-02 003:04",
    "2026-01-02 03:4",
    "2026-01-02 03:04:5",
    "2026-01-02 03:04:05.",
    "2026-01-02 03:04:05;1",
    "2026-01-02 03:04 xm",
    "2026-01-02 03:04 p",
    "2026-01-02 03:04 +2:00",
    "2026-01-02 03:04 +02:0",
    "2026-01-02 03:04 *02:00",
    "2026-01-02 03:04 EST",
    "2026-01-02Z",
  ])("does not take %j for a date", (value) => {
    expect(readDate(value)).toBeUndefined();
  });
});

describe("readTime", () => {
  test.each([
    ["2026-01-02", "2026-01-02T00:00:00.000Z"],
    ["2026/1/2", "2026-01-02T00:00:00.000Z"],
    ["2026-01-02 03:04", "2026-01-02T03:04:00.000Z"],
    ["2026-01-02t03:04:05", "2026-01-02T03:04:05.000Z"],
    ["2026-01-02 03:04:05.678", "2026-01-02T03:04:05.678Z"],
    ["2026-01-02 03:04:05,678912345", "2026-01-02T03:04:05.678Z"],
    ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000Z"],
    ["2026-01-02 03:04:05 utc", "2026-01-02T03:04:05.000Z"],
    ["2026-01-02 03:04  GMT", "2026-01-02T03:04:00.000Z"],
    ["2026-01-02 03:04:05+02:00", "2026-01-02T01:04:05.000Z"],
    ["2026-01-02 03:04 -0230", "2026-01-02T05:34:00.000Z"],
    ["2026-01-02 3:04", "2026-01-02T00:00:00.000Z"],
    ["2026-01-02 03:04 PM", "2026-01-02T00:00:00.000Z"],
  ])("reads %j as %s", (value, time) => {
    expect(readTime(value)).toBe(time);
  });

  test.each([
    "",
    "x",
    "2026-02-30 03:04",
    "2026-02-30",
    "2026-01-02 25:04",
    "2026-01-02 03:04+02:0",
    "x2026-01-02 03:04",
    "2026-01-02 03:04x",
  ])("does not take %j for a time", (value) => {
    expect(readTime(value)).toBeUndefined();
  });
});

test.each([
  ["true", true],
  ["YES", true],
  ["y", true],
  ["1", true],
  ["False", false],
  ["no", false],
  ["n", false],
  ["0", false],
  ["", undefined],
  ["on", undefined],
  ["constructor", undefined],
])("the boolean %j is %s", (value, expected) => {
  const problems: RowError[] = [];
  const read = readBoolean((field) => (field === "b" ? value : ""), "b", problems);
  expect(read).toBe(expected);
  const codes = problems.map(({ field, code }) => [field, code]);
  expect(codes).toEqual(expected === undefined && value !== "" ? [["b", "bad_boolean"]] : []);
});

describe("what services report", () => {
  test.each([
    ["code", couponErrorTexts.empty_cell, "missing"],
    ["code", couponErrorTexts.duplicate_code, "duplicate"],
    ["email", orderConflictText, "order_conflict"],
    ["email", unsubscriberErrorTexts.email, "bad_email"],
    ["email_type_id", unsubscriberErrorTexts.emailType, "bad_email_type"],
    ["x", `x${orderConflictText}`, "refused"],
    ["x", `${orderConflictText}x`, "refused"],
    ["email", "e-mail is invalid", "bad_email"],
    ["email", "not an email", "bad_email"],
    ["email", "mail is empty", "missing"],
    ["x", "are required", "missing"],
    ["x", "cannot be empty", "missing"],
    ["x", "can’t be", "refused"],
    ["x", "cant be blank", "missing"],
    ["x", "must have at most 5 characters", "too_long"],
    ["x", "is too short", "too_short"],
    ["x", "is shorter than 2", "too_short"],
    ["x", "link is not valid", "bad_url"],
    ["x", "web address is invalid", "bad_url"],
    ["x", "not a URL", "bad_url"],
    ["x", "must be a date", "bad_date"],
    ["x", "date is invalid", "bad_date"],
    ["x", "must be an amount", "bad_price"],
    ["x", "not a price", "bad_price"],
    ["x", "unknown currency", "bad_currency"],
    ["x", "unknown platform", "bad_platform"],
    ["x", "must be alphanumeric", "bad_id"],
    ["x", "only alphanumeric characters", "bad_id"],
    ["x", "has a surrogate", "bad_characters"],
    ["x", "already exists", "duplicate"],
    ["x", "is duplicated", "duplicate"],
    ["x", "duplicate value", "duplicate"],
    ["x", "must be true or false", "bad_boolean"],
    ["x", "must be a boolean", "bad_boolean"],
    ["x", "must be an integer", "bad_type"],
    ["x", "must be text", "bad_type"],
    ["x", "dismissing", "refused"],
    ["order_date", "is invalid", "bad_date"],
    ["currency_iso", "is not valid", "bad_currency"],
    ["url", "is invalid", "bad_url"],
    ["product_url", "is invalid", "bad_url"],
    ["image_url", "is invalid", "bad_url"],
    ["product_image", "is invalid", "bad_url"],
    ["price", "is invalid", "bad_price"],
    ["product_price", "is invalid", "bad_price"],
    ["product_id", "is invalid", "bad_id"],
    ["product_id", "is invalidated", "refused"],
  ])("of %s: %j is %s", (field, text, code) => {
    expect(readServiceProblem(field, text)).toMatchObject({ field, code });
  });

  test.each([
    ["customer_name", "The customer name is odd"],
    ["customer_name", "customer_name is odd"],
    ["customer_name", "CustomerName  is odd"],
  ])("omits the name %s of %j", (field, text) => {
    expect(readServiceProblem(field, text).reason).toMatch(/: (?:is odd|The|customer|Customer)/);
    expect(readServiceProblem(field, `${text} and too long`).reason).toMatch(/^is odd and too long/);
  });

  test("of a call with one item has a code for its size", () => {
    const refuse = (error: ServiceError) => readCallRefusal(error, { one: "order" });
    expect(refuse(new ServiceError("bodyTooLarge", "big"))).toMatchObject({ field: "", code: "too_large" });
    expect(refuse(new ServiceError("invalidParams", "no"))).toMatchObject({ field: "", code: "call_refused" });
  });

  test("of each item becomes its error, its dropped values, or its outcome", () => {
    const error = { item: 1, field: "name", code: "missing", reason: "is missing" };
    expect(readOutcomes({ errors: [error] })).toEqual({ errors: [error] });
    const dropped = [{ field: "sku", error: "allows only letters" }];
    const read = readOutcomes({
      errors: [error],
      outcomes: [
        { outcome: "created", fields: ["name"], dropped },
        { outcome: "created", dropped },
        { outcome: "dropped", dropped },
        { outcome: "dropped" },
        undefined,
        { outcome: "unchanged" },
      ],
    });
    const located = (item: number) => expect.objectContaining({ item, field: "sku", code: "bad_id" });
    expect(read).toEqual({
      errors: [error, located(2), expect.objectContaining({ item: 3, field: "", code: "refused" })],
      outcomes: [
        { outcome: "created", fields: ["name"] },
        undefined,
        undefined,
        undefined,
        undefined,
        { outcome: "unchanged", fields: undefined },
      ],
      dropped: [located(0)],
    });
  });
});

test("letters that normalization does not reduce are spelled out", () => {
  const slug = (text: string) => proposeLegalId(`${text} `).slice(0, -11);
  expect(slug("ßẞæÆœŒøØđĐðÐłŁþÞı")).toBe("ssSSaeAEoeOEoOdDdDlLthThi");
  expect(slug("--a--b--")).toBe("a-b");
  expect(proposeLegalId("é").length).toBe(12);
  expect(slug("x".repeat(300))).toHaveLength(244);
});

test("the valid rows of an item refer to the invalid one", () => {
  expect(describeIncomplete("order", 5)).toMatchObject({
    field: "",
    code: "order_incomplete",
    reason: expect.stringMatching(/an order .* line 5/),
  });
  expect(describeIncomplete("product", 5).reason).toMatch(/a product/);
});
