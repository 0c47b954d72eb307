import { describe, expect, test } from "vitest";
import { normalizeSpec } from "../../../../src/contract/index.ts";
import { findDamage } from "../../../../src/import/check/damaged-values.ts";
import { readDate, readTime } from "../../../../src/import/check/date.ts";
import { readPrice } from "../../../../src/import/check/price.ts";
import { isZero } from "../../../../src/import/layouts/values.ts";
import { measureCpu } from "../../../support/cpu-time.ts";

const ids: ReadonlySet<string> = new Set(["sku"]);
const codeOf = (field: string, value: string) => findDamage(field, value, ids)?.code;

describe("values damaged by a spreadsheet program", () => {
  test.each(["#N/A", "#REF!", "#VALUE!", "#NAME?", "#DIV/0!", "#NUM!", "#NULL!", "#SPILL!", "#BEZUG!", "#NV"])(
    "%s is an error in any field",
    (value) => {
      expect(codeOf("sku", value)).toBe("spreadsheet_error");
      expect(codeOf("review_content", value)).toBe("spreadsheet_error");
    },
  );

  test.each(['="1002"', '=""', '="0815-A"'])("%s is a formula in any field", (value) => {
    expect(codeOf("name", value)).toBe("spreadsheet_formula");
  });

  test.each(["1.23E+12", "1,23E+12", "4E+15", "1.23457e+12"])("%s is a damaged ID, but a valid name", (value) => {
    expect(codeOf("sku", value)).toBe("scientific_notation");
    expect(codeOf("name", value)).toBeUndefined();
  });

  test.each([
    "the cell says #N/A",
    "#N/A is what I got",
    "#LOVE!",
    "#1002",
    "#n/a",
    "4E10",
    "5E-12",
    "1.23E12",
    "12E+3X",
    "=1",
    '="a" and ="b"',
    "",
    "0",
  ])("%j is not damaged", (value) => {
    expect(codeOf("sku", value)).toBeUndefined();
  });

  test("a value that no field accepts is rejected for its length", () => {
    expect(codeOf("name", "x".repeat(65_536))).toBe("too_long");
    expect(codeOf("name", "x".repeat(65_535))).toBeUndefined();
  });
});

describe("long values", () => {
  const long = 300_000;

  test.each<[string, () => unknown]>([
    ["a spec value with spaces", () => normalizeSpec(`x${" ".repeat(long)}x`)],
    ["a price of zeros", () => readPrice("0".repeat(long))],
    ["a price with spaces", () => readPrice(`1${" ".repeat(long)}x`)],
    ["zeros", () => isZero(`${"0".repeat(long)}x`)],
    ["a date with spaces", () => readDate(`2026-01-02T10:00${" ".repeat(long)}x`)],
    ["a time with spaces", () => readTime(`2026-01-02T10:00${" ".repeat(long)}x`)],
  ])("are read in linear time: %s", (_name, read) => {
    expect(measureCpu(read)).toBeLessThan(500);
  });
});
