import { assert, property, string } from "fast-check";
import { describe, expect, it } from "vitest";
import { isLegalId, maxLength, normaliseSpec } from "../../../src/contract/index.ts";

describe("normaliseSpec", () => {
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
    expect(normaliseSpec(raw)).toEqual({ value });
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
    expect(normaliseSpec(raw)).toEqual({ ignored });
  });

  it("measures length after normalising", () => {
    expect(normaliseSpec("0".repeat(300) + "x".repeat(maxLength.spec))).toHaveProperty("value");
  });

  it("gives a legal value that normalises to itself, or none", () => {
    assert(
      property(string(), (raw) => {
        const found = normaliseSpec(raw);
        if ("ignored" in found) return;
        expect(isLegalId(found.value)).toBe(true);
        expect(normaliseSpec(found.value)).toEqual(found);
      }),
    );
  });
});
