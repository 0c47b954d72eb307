import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isLegalId, maxLength, normalizeSpec } from "../../../../src/contract/index.ts";
import { fixId, proposeLegalId } from "../../../../src/import/check/valid-id.ts";
import { countRuns } from "../../../support/suite-size.ts";

/** Similar texts, whose slugs are often equal. */
const alike = fc.string({
  unit: fc.constantFrom("a", "A", "1", "0", "-", "_", " ", "/", "#", "é", "e", "ß", "ж", "鞋", "🙂"),
  minLength: 1,
  maxLength: 12,
});
const anything = fc.string({ unit: "grapheme", minLength: 1, maxLength: 300 });
const illegal = fc.oneof(alike, anything).filter((id) => !isLegalId(id));
const runs = { numRuns: countRuns(3_000), seed: 4 } as const;

describe("a proposed ID", () => {
  test("is valid and not too long", () => {
    fc.assert(
      fc.property(illegal, (id) => {
        const proposed = proposeLegalId(id);
        return isLegalId(proposed) && proposed.length <= maxLength.id && /^[^-].*[^-]$/.test(proposed);
      }),
      runs,
    );
  });

  test("depends only on the original", () => {
    const pairs = ["#1001/A", "Größe M", "靴", "///"].map((id) => [id, proposeLegalId(id)]);
    expect(pairs).toEqual([
      ["#1001/A", expect.stringMatching(/^1001-A-[a-z2-7]{10}$/)],
      ["Größe M", expect.stringMatching(/^Grosse-M-[a-z2-7]{10}$/)],
      ["靴", expect.stringMatching(/^[a-z2-7]{10}$/)],
      ["///", expect.stringMatching(/^[a-z2-7]{10}$/)],
    ]);
    // Fixed forever: any change would separate the records of earlier and later runs.
    expect(proposeLegalId("#1001/A")).toBe("1001-A-hanowhjpg3");
  });

  test("is different for each original", () => {
    fc.assert(
      fc.property(fc.uniqueArray(illegal, { selector: (id) => id.normalize("NFC"), maxLength: 60 }), (ids) => {
        expect(new Set(ids.map(proposeLegalId)).size).toBe(ids.length);
      }),
      { numRuns: countRuns(500), seed: 4 },
    );
  });

  test("is never a valid original ID", () => {
    fc.assert(
      fc.property(illegal, fc.array(alike.filter(isLegalId), { maxLength: 30 }), (id, legal) => {
        expect(legal).not.toContain(proposeLegalId(id));
      }),
      runs,
    );
    const slug = proposeLegalId("1001/A").slice(0, -11);
    expect(slug).toBe("1001-A");
  });

  test("is the same for both Unicode normalization forms", () => {
    expect(proposeLegalId("Caf\u00e9 1")).toBe(proposeLegalId("Cafe\u0301 1"));
    expect(proposeLegalId("Caf\u00e9 1")).not.toBe(proposeLegalId("Cafe 1"));
  });
});

describe("--fix-ids", () => {
  test.each([
    ["product_id", "1001-A"],
    ["product_id", ""],
    ["product_id", "x/".repeat(200)],
    ["sku", "N/A"],
    ["sku", "007"],
    ["brand", "Müller & Söhne"],
    ["upc", "0 12345 67890 5"],
    ["order_id", "#1001"],
  ])("does not change %s %j", (field, value) => {
    expect(fixId(field, value)).toBeUndefined();
  });

  test("uses the stored form of a spec value", () => {
    fc.assert(
      fc.property(alike, (value) => {
        const fixed = fixId("sku", value);
        if (fixed !== undefined) expect(normalizeSpec(fixed)).toEqual({ value: fixed });
      }),
      runs,
    );
    expect(fixId("sku", "00 12/A")).toMatch(/^12-A-[a-z2-7]{10}$/);
  });
});
