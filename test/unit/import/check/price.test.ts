import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readPrice } from "../../../../src/import/check/price.ts";

describe("parsing a price", () => {
  test.each([
    ["99.9", "99.9"],
    [".5", ".5"],
    ["1.234", "1.234"],
    ["R$ 1.234,56", "1234.56"],
    ["1,234.56", "1234.56"],
    ["€ 12,50", "12.50"],
    ["12,50 €", "12.50"],
    ["US$ 5", "5"],
    ["EUR 12", "12"],
    ["99 kr.", "99"],
    ["zł 12,30", "12.30"],
    ["Fr. 12.50", "12.50"],
    ["1\u00a0234,50", "1234.50"],
    ["1\u202f234,50 €", "1234.50"],
    ["1’234.50", "1234.50"],
    ["12,-", "12"],
    ["CHF 1'299.–", "1299"],
    ["1,234,567", "1234567"],
    ["1.234.567,8", "1234567.8"],
    ["0,123", "0.123"],
    ["¥1234", "1234"],
  ])("parses %s as %s", (written, price) => {
    expect(readPrice(written)).toEqual({ price });
  });

  test.each(["", "free", "-3", "12,5,3", "1.2.3", "1,23,456.00", "5,", "€", "12 pcs", "10,5x", "€ 5 €", "1.23,456,7"])(
    "rejects %j",
    (written) => {
      expect(readPrice(written)).toBeUndefined();
    },
  );

  test.each(["1,234", "R$ 1.234", "$1,234", "1,234 EUR"])("%s is ambiguous", (written) => {
    expect(readPrice(written)).toEqual({ doubtful: ["1234", "1.234"] });
  });

  test("a known currency resolves the ambiguity unless it has three decimals", () => {
    expect(readPrice("R$ 1.234", "BRL")).toEqual({ price: "1234" });
    expect(readPrice("1,234", "usd")).toEqual({ price: "1234" });
    expect(readPrice("1,234", "KWD")).toHaveProperty("doubtful");
  });

  test("parses every amount with cents in every notation", () => {
    const separators = fc.constantFrom([",", "."], [".", ","], [" ", ","], ["'", "."], ["", "."], ["", ","]);
    const signs = fc.constantFrom("", "€", "R$ ", "USD ", "kr. ");
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 99_999_999 }), separators, signs, (cents, [group, point], sign) => {
        const [whole, rest] = [String(Math.floor(cents / 100)), String(cents % 100).padStart(2, "0")];
        const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, group ?? "");
        const read = readPrice(`${sign}${grouped}${point}${rest}`);
        expect(read).toEqual({ price: `${whole}.${rest}` });
      }),
    );
  });
});
