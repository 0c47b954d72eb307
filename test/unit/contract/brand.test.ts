import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { brandSurfaces, createBrand, defaultBrand, findUnreadable } from "../../../src/contract/brand/brand.ts";
import { contrastOf, findContrasting, parseColor } from "../../../src/contract/brand/color-contrast.ts";

const color = fc.integer({ min: 0, max: 0xff_ff_ff }).map((value) => `#${value.toString(16).padStart(6, "0")}`);

describe("contrast", () => {
  test.each([
    ["#ffffff", "#000000", 21],
    ["#777777", "#ffffff", 4.48],
    ["#0b4fb3", "#ffffff", 7.58],
    ["#ffcc00", "#ffffff", 1.51],
    ["#8ab8ff", "#1b1d22", 8.29],
  ])("%s on %s is %d:1", (one, other, ratio) => {
    expect(contrastOf(one, other)).toBeCloseTo(ratio, 1);
    expect(contrastOf(other, one)).toBe(contrastOf(one, other));
  });

  test("a color that passes stays, and another one changes as little as it needs to", () => {
    fc.assert(
      fc.property(
        color,
        fc.constantFrom(...Object.values(brandSurfaces)),
        fc.constantFrom(3, 4.5),
        (given, on, ratio) => {
          const found = findContrasting(given, on, ratio);
          expect(contrastOf(found, on)).toBeGreaterThanOrEqual(ratio);
          if (contrastOf(given, on) >= ratio) expect(found).toBe(given);
          else expect(contrastOf(found, on)).toBeLessThan(ratio + 0.5);
        },
      ),
    );
  });

  test("the hue stays", () => {
    expect(findContrasting("#ffcc00", "#ffffff", 4.5)).toBe("#907300");
    expect(findContrasting("#0b4fb3", "#1b1d22", 4.5)).toBe("#3582f3");
  });

  test.each([
    ["#FC0", "#ffcc00"],
    ["#0B4FB3", "#0b4fb3"],
    ["red", undefined],
    ["#12345", undefined],
    ["#ffcc0080", undefined],
  ])("%s is %s", (text, parsed) => {
    expect(parseColor(text)).toBe(parsed);
  });
});

describe("the brand", () => {
  test("text has enough contrast in both schemes, whatever the colors", () => {
    fc.assert(
      fc.property(color, color, (accent_color, star_color) => {
        const brand = createBrand({ accent_color, star_color }, undefined);
        for (const [text, surface, ratio] of [
          [brand.accent_color, brandSurfaces.light, 4.5],
          [brand.accent_text_color, brand.accent_color, 4.5],
          [brand.star_color, brandSurfaces.light, 3],
          [brand.dark_accent_color, brandSurfaces.dark, 4.5],
          [brand.dark_accent_text_color, brand.dark_accent_color, 4.5],
          [brand.dark_star_color, brandSurfaces.dark, 3],
        ] as const) {
          expect(contrastOf(text, surface)).toBeGreaterThanOrEqual(ratio);
        }
      }),
    );
  });

  test("the built-in design is readable", () => {
    expect(findUnreadable(defaultBrand)).toBeUndefined();
    expect(defaultBrand).toMatchObject({ accent_color: "#0b4fb3", dark_accent_color: "#8ab8ff", logo_url: null });
  });

  test("a color is compared with the background of the scheme", () => {
    const yellow = { ...defaultBrand, accent_color: "#ffcc00" };
    expect(findUnreadable(yellow)).toMatchObject({ field: "accent_color", surface: "#ffffff", nearest: "#907300" });
    expect(findUnreadable({ ...yellow, star_color: "#ffcc00", color_scheme: "dark" })).toBeUndefined();
    expect(findUnreadable({ ...defaultBrand, star_color: "#ffcc00" })).toMatchObject({ field: "star_color", ratio: 3 });
  });

  test("a font family is put before the fonts of the system", () => {
    expect(createBrand({ font: "Source Sans 3" }, undefined).font).toMatch(/^'Source Sans 3', system-ui, /);
    expect(createBrand({ font: "serif" }, undefined).font).toMatch(/^Georgia, /);
  });
});
