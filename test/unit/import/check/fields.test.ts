import { describe, expect, test } from "vitest";
import { maxLength } from "../../../../src/contract/index.ts";
import type { RowError } from "../../../../src/import/item.ts";
import { lastOf, pickSpecs, readProductId, settlePrice, unknownElement } from "../../../../src/import/check/fields.ts";

const rowOf = (cells: Readonly<Record<string, string>>) => (field: string) => cells[field] ?? "";

test.each([
  ["abc_1-2", undefined],
  ["", "missing"],
  ["a".repeat(maxLength.id), undefined],
  ["a".repeat(maxLength.id + 1), "too_long"],
  ["a b", "bad_id"],
  ["__proto__", "bad_id"],
])("the product ID %j has the error %s", (id, code) => {
  const problems: RowError[] = [];
  expect(readProductId(rowOf({ product_id: id }), problems)).toBe(id);
  expect(problems.map((problem) => [problem.field, problem.code])).toEqual(code ? [["product_id", code]] : []);
});

describe("specs", () => {
  const read = (cells: Readonly<Record<string, string>>) => {
    const dropped: (readonly [string, string])[] = [];
    const specs = pickSpecs(rowOf(cells), (field, reason) => dropped.push([field, reason]));
    return [specs, dropped.map(([field, reason]) => [field, /\d+/.exec(reason)?.[0], reason.includes("--fix-ids")])];
  };

  test.each([
    [{}, undefined, []],
    [{ name: "Cup" }, undefined, []],
    [{ sku: "S-1", brand: "Acme " }, { sku: "S-1", brand: "Acme" }, []],
    [{ sku: "N/A", brand: "000" }, undefined, []],
    [{ mpn: "M-1", sku: "a/b" }, { mpn: "M-1" }, [["sku", undefined, true]]],
    [{ sku: "S-1", upc: "a/b" }, { sku: "S-1" }, [["upc", undefined, false]]],
    [{ sku: "s".repeat(maxLength.spec) }, { sku: "s".repeat(maxLength.spec) }, []],
    [{ sku: "s".repeat(maxLength.spec + 1) }, undefined, [["sku", "255", false]]],
  ])("of %j are %j, without %j", (cells, specs, dropped) => {
    expect(read(cells as Readonly<Record<string, string>>)).toEqual([specs, dropped]);
  });
});

test.each([
  ["1.234,50", "1234.50", []],
  ["5", "5", []],
  ["€ 5,50", "5.50", []],
  ["1,234", undefined, [["cost", "bad_price"]]],
  ["cheap", "cheap", []],
])("the price %j becomes %j", (value, settled, expected) => {
  const problems: RowError[] = [];
  expect(settlePrice(value, "cost", problems)).toBe(settled);
  expect(problems.map(({ field, code }) => [field, code])).toEqual(expected);
});

test("an error on the wire is named by the last part of its path", () => {
  expect([lastOf(["specs", "upc"]), lastOf(["name", 0]), lastOf([])]).toEqual(["upc", "0", ""]);
  expect(unknownElement("order 7")).toMatchObject({ kind: "unexpectedAnswer", message: expect.stringContaining("7") });
});
