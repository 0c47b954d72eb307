import { assert, property, string } from "fast-check";
import { describe, expect, it } from "vitest";
import { isLegalId, maxLength, normalizeSpec } from "../../../src/contract/index.ts";

describe("normalizeSpec", () => {
  it.each([
    ["A1", "A1"],
    ["A1  ", "A1"],
    ["A1\t\n", "A1"],
    ["000A1", "A1"],
    ["   A1", "A1"],
    ["---A1", "A1"],
    [" 0-0 -00A1 ", "A1"],
    ["A-0_1", "A-0_1"],
    ["A100", "A100"],
    ["A1--", "A1--"],
    ["aBc", "aBc"],
    ["n/a".toUpperCase().replace("/", "_"), "N_A"],
  ])("makes %j into %j", (raw, value) => {
    expect(normalizeSpec(raw)).toEqual({ value });
  });

  it.each([
    ["N/A", "N/A"],
    [" N/A ", "N/A"],
    ["", "empty"],
    ["  ", "empty"],
    ["0", "empty"],
    ["-00 -", "empty"],
    ["n/a", "characters"],
    ["a b", "characters"],
    ["ä", "characters"],
    ["a.b", "characters"],
    ["x".repeat(maxLength.spec + 1), "length"],
  ])("ignores %j: %s", (raw, ignored) => {
    expect(normalizeSpec(raw)).toEqual({ ignored });
  });

  it("checks the length after normalization", () => {
    expect(normalizeSpec("0".repeat(300) + "x".repeat(maxLength.spec))).toHaveProperty("value");
  });

  it("returns valid values that normalize to themselves, or none", () => {
    assert(
      property(string(), (raw) => {
        const found = normalizeSpec(raw);
        if ("ignored" in found) return;
        expect(isLegalId(found.value)).toBe(true);
        expect(normalizeSpec(found.value)).toEqual(found);
      }),
    );
  });
});
