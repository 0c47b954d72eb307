import { describe, expect, it } from "vitest";
import { formatText } from "../../../src/shop/texts.ts";
import { openMessages } from "../../../src/messages/messages.ts";
import { languages } from "../../../src/contract/brand/brand.ts";
import { sources } from "../../../src/messages/sources.ts";

/** Messages of pages that elements share. */
const isOfElements = (key: string) => /^(?:shop\.|page\.form\.stars$|page\.reviews\.score$)/.test(key);

describe("formatText", () => {
  it.each(languages)("formats every message of elements in %s as pages do", (language) => {
    const plain = { text: (text: string) => text, value: (value: unknown) => String(value) };
    const format = openMessages(language, plain);
    for (const [key, text] of Object.entries(sources[language] ?? {}).filter(([name]) => isOfElements(name))) {
      for (const count of [0, 1, 2, 3, 5, 11, 21, 100]) {
        const names = [...text.matchAll(/\{\s*(\w+)\s*[,}]/g)].map(([, name = ""]) => name);
        const values = Object.fromEntries(names.map((name) => [name, count]));
        expect(formatText(text, values, language), key).toBe(format(key as never, values));
      }
    }
  });

  it("writes texts as they are, and numbers in the language", () => {
    const text = "{name}: {count, plural, =0 {none} one {# of {total}} other {# of {total}}}";
    expect(formatText(text, { name: "{count} #", count: 0, total: 5 }, "en")).toBe("{count} #: none");
    expect(formatText("a '{b}' c''d {x, plural, other {'{'# '}'}}", { x: 1 }, "en")).toBe("a {b} c'd {1 }");
    expect(formatText(text, { name: "a", count: 1_234.5, total: 9_999 }, "de")).toBe("a: 1.234,5 of 9.999");
  });
});
