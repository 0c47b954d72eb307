import { describe, expect, test } from "vitest";
import { maxLength } from "../../../../src/contract/index.ts";
import type { RowError } from "../../../../src/import/item.ts";
import {
  lastOf,
  pick,
  pickSpecs,
  readProductId,
  settlePrice,
  unknownElement,
} from "../../../../src/import/check/fields.ts";

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

test("only cells with a value are picked, under their names on the wire", () => {
  expect(pick(rowOf({ a: "1", b: "", c: "3" }), { x: "a", y: "b", z: "d" })).toEqual({ x: "1" });
});

test.each([
  [{ price: "1.234,50" }, { price: "1234.50" }, []],
  [{ price: "5", name: "Cup" }, { price: "5", name: "Cup" }, []],
  [{ price: "1,234" }, {}, [["cost", "bad_price"]]],
  [{ price: "cheap" }, { price: "cheap" }, []],
  [{}, {}, []],
])("the price of %j becomes %j", (picked: Record<string, unknown>, settled, expected) => {
  const problems: RowError[] = [];
  settlePrice(picked, "cost", problems);
  expect([picked, problems.map(({ field, code }) => [field, code])]).toEqual([settled, expected]);
});

test("an error on the wire is named by the last part of its path", () => {
  expect([lastOf(["specs", "upc"]), lastOf(["name", 0]), lastOf([])]).toEqual(["upc", "0", ""]);
  expect(unknownElement("order 7")).toMatchObject({ kind: "unexpectedAnswer", message: expect.stringContaining("7") });
});
