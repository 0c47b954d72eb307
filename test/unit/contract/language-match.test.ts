import { describe, expect, test } from "vitest";
import { languages } from "../../../src/contract/brand/brand.ts";
import { matchLanguage, readAcceptLanguage } from "../../../src/contract/brand/language-match.ts";

describe("the language of a tag", () => {
  test.each(languages)("%s is its own", (language) => {
    for (const tag of [language, language.toUpperCase(), language.replace("-", "_")]) {
      expect(matchLanguage(tag)).toBe(language);
    }
  });

  test.each([
    ["de-AT", "de"],
    ["de_DE.UTF-8", "de"],
    ["sv@euro", "sv"],
    [" en-US ", "en"],
    ["zh", "zh-Hans"],
    ["zh_CN", "zh-Hans"],
    ["zh-Hans-SG", "zh-Hans"],
    ["pt", "pt-BR"],
    ["pt_PT", "pt-BR"],
    ["iw", "he"],
    ["iw-IL", "he"],
    ["zh-TW", undefined],
    ["zh-Hant-HK", undefined],
    ["den", undefined],
    ["tlh", undefined],
    ["*", undefined],
    ["constructor", undefined],
    ["", undefined],
  ])("of %j is %s", (tag, language) => expect(matchLanguage(tag)).toBe(language));
});

test.each([
  [undefined, undefined],
  ["", undefined],
  ["*", undefined],
  ["de", "de"],
  ["tlh, fr;q=0.5", "fr"],
  ["en;q=0.7, de-AT;q=0.8, *;q=0.1", "de"],
  ["fr;q=0.8,it;q=0.8", "fr"],
  ["de;q=0, pl;q=0.001", "pl"],
  ["de;q=0", undefined],
  ["zh-TW,zh;q=0.9,en;q=0.8", "zh-Hans"],
  ["de;q=2, es;Q=0.25", "es"],
  ["de ; q=0.2 , ja ; q=0.3", "ja"],
])("Accept-Language: %s prefers %s", (header, language) => expect(readAcceptLanguage(header)).toBe(language));
