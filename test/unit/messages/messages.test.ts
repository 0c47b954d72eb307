import { describe, expect, it } from "vitest";
import { compileCatalogs, readCatalogs } from "../../../.ci/messages.ts";
import { languages } from "../../../src/contract/index.ts";
import type { CompiledMessage } from "../../../src/messages/catalogs.ts";
import { MessageFormatter } from "../../../src/messages/formatter.ts";
import { directionOf, openMessages } from "../../../src/messages/messages.ts";

const output = { text: (text: string) => text, value: (value: unknown) => `[${String(value)}]` };

/** Compiles a message in one language, and formats it. */
async function format(text: string, values: Readonly<Record<string, unknown>>, language = "en"): Promise<string> {
  const code = compileCatalogs({ en: { key: text }, [language]: { key: text } });
  const { catalogs } = (await import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(code)}`)) as {
    readonly catalogs: Readonly<Record<string, () => Readonly<Record<string, CompiledMessage>>>>;
  };
  return catalogs[language]?.()["key"]?.(values, new MessageFormatter(language, output)) ?? "";
}

describe("a compiled message", () => {
  const stars = "{n, plural, =0 {none} one {# star} other {# stars}}";
  const votes = "{n, plural, offset:1 =1 {you} one {you and # other} other {you and # others}}";
  const cups = "{n, plural, one {# kubek} few {# kubki} many {# kubków} other {# kubka}}";

  it.each<[string, Readonly<Record<string, unknown>>, string, string?]>([
    ["Don't '{'escape'}' <b>{name}</b>", { name: "a" }, "Don't {escape} <b>[a]</b>"],
    [stars, { n: 0 }, "none"],
    [stars, { n: 1 }, "1 star"],
    [stars, { n: 1_200 }, "1,200 stars"],
    [votes, { n: 1 }, "you"],
    [votes, { n: 2 }, "you and 1 other"],
    [cups, { n: 3 }, "3 kubki", "pl"],
    [cups, { n: 1_500.5 }, "1500,5 kubka", "pl"],
    ["{who, select, store {The store} other {{name}}}: yes", { who: "store", name: "a" }, "The store: yes"],
    ["{who, select, store {The store} other {{name}}}: yes", { who: "toString", name: "a" }, "[a]: yes"],
    ["{is_new, select, true {new} other {old}}", { is_new: true }, "new"],
    ["{score, number} ({part, number, percent})", { score: 4.5, part: 0.9 }, "4,5 (90\u00A0%)", "de"],
    ["{day, date, long}", { day: "2026-03-14" }, "14. März 2026", "de"],
    ["{day, date, long}", { day: Date.UTC(2026, 2, 14, 23) }, "2026年3月14日", "ja"],
  ])("%s of %j is %s", async (text, values, expected, language = "en") => {
    expect(await format(text, values, language)).toBe(expected);
  });

  it("needs its values", async () => {
    await expect(format("{name}", { other: "a" })).rejects.toThrow("value name of the message is missing");
  });
});

describe("the build fails for", () => {
  it.each([
    ["a missing message", { en: { a: "a" }, de: {} }, "de: a: missing"],
    ["a message without an English one", { en: {}, de: { a: "a" } }, "de: a: not in en.json"],
    [
      "a message with another value",
      { en: { a: "{x}" }, de: { a: "{y}" } },
      "de: a: must have the values x, but has y",
    ],
    ["invalid syntax", { en: { a: "{x" } }, "en: a: "],
    [
      "a missing plural form",
      {
        en: { a: "{n, plural, one {#} other {#}}" },
        pl: { a: "{n, plural, one {#} many {#} other {#}}" },
      },
      "pl: a: plural form few missing",
    ],
  ])("%s", (_what, catalogs, fault) => {
    expect(() => compileCatalogs(catalogs)).toThrow(fault);
  });
});

describe("the catalogs", () => {
  it("have all messages in all languages, with the same values, and all plural forms", () => {
    const catalogs = readCatalogs();
    expect(Object.keys(catalogs).toSorted()).toEqual(languages.toSorted());
    expect(() => compileCatalogs(catalogs)).not.toThrow();
    const counted = Object.entries(catalogs).map(([language, texts]) => {
      const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions();
      const [, forms = ""] = /^\{count, plural, (.*)\}$/.exec(texts["page.form.stars"] ?? "") ?? [];
      return [language, pluralCategories.filter((form) => !forms.includes(`${form} {`))];
    });
    expect(counted).toEqual(Object.keys(catalogs).map((language) => [language, []]));
  });

  it("can be opened in every language", () => {
    for (const language of languages) {
      expect(openMessages(language, output)("email.greeting_named", { name: "Ana" })).toContain("[Ana]");
    }
    expect(languages.filter((language) => directionOf(language) === "rtl")).toEqual(["ar", "he"]);
    expect(() => openMessages("en", output)("toString" as never)).toThrow("unknown message toString");
  });
});
