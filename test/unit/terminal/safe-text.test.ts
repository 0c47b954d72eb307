import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createPaint } from "../../../src/terminal/colors.ts";
import { escapeForTerminal, sanitizeLine, sanitizeText } from "../../../src/terminal/safe-text.ts";
import { hostileTexts, terminalControls } from "../../support/hostile-texts.ts";

const texts = fc.string({
  unit: fc.oneof(
    fc.constantFrom("\u001B", "[", "3", "1", ";", "m", "\u009B", "\u0007", "\u202E", "\u200B", "\n", "\r", "\u{E0041}"),
    fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
  ),
});

test("no text of data contains a control character or a line break", () => {
  fc.assert(
    fc.property(texts, (text) => {
      for (const shown of [sanitizeText(text), sanitizeLine(text)]) {
        expect(shown).not.toMatch(terminalControls);
        expect(shown).not.toMatch(/[\n\r\t]/);
      }
    }),
  );
});

test("an output contains only line breaks, tabs, and the program's own colors", async () => {
  const paint = await createPaint(true);
  fc.assert(
    fc.property(texts, texts, (before, after) => {
      const shown = escapeForTerminal(`${before}${paint.red("x")}${after}`);
      expect(shown.split("\u001B[31mx\u001B[39m")).toHaveLength(2);
      expect(shown.replace("\u001B[31mx\u001B[39m", "")).not.toMatch(terminalControls);
    }),
  );
});

test("JSON has the same value after it was escaped", () => {
  fc.assert(
    fc.property(fc.oneof(texts, fc.constantFrom(...hostileTexts)), (text) => {
      expect(JSON.parse(escapeForTerminal(JSON.stringify([text])))).toEqual([text]);
    }),
  );
});

describe("sanitizeText", () => {
  test.each(["👩‍👩‍👧", "می‌خواهم", "naïve — “quotes”", "क्‍ष", "1️⃣"])("keeps %s", (text) => {
    expect(sanitizeText(text)).toBe(text);
  });
});
