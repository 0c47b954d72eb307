import { assert, property, stringMatching, tuple } from "fast-check";
import { describe, expect, it } from "vitest";
import { breakLinks, shortenName } from "../../../src/contract/index.ts";

describe("a public name", () => {
  it.each([
    ["Ann Lee", "Ann L."],
    ["Ann Mary Lee", "Ann L."],
    ["Madonna", "Madonna"],
    ["Jean-Luc Picard", "Jean-Luc P."],
    ["O'Brien, Pat", "Pat O."],
    ["o’brien , pat", "pat O."],
    ["García Márquez, Gabriel", "Gabriel M."],
    ["van der Berg, Jan", "Jan B."],
    ["Jan van der Berg", "Jan B."],
    ["Smith,John", "John S."],
    ["Smith, John Paul", "John S."],
    ["Smith, John, Jr.", "John S."],
    ["Pat O'Brien, PhD", "O."],
    ["Rahman, Md", "Md R."],
    ["Lee;Ann", "Ann L."],
    ["Lee，Ann", "Ann L."],
    ["العلي، محمد", "محمد ا."],
    ["محمد علي", "محمد ع."],
    ["יוסי כהן", "יוסי כ."],
    ["Иванов, Пётр", "Пётр И."],
    ["Dr. O'Neil", "Dr. O."],
    ["J.Smith", "J S."],
    ["Ann/Lee", "Ann L."],
    ["Ann\u00A0Lee", "Ann L."],
    ["Ann\u200BLee", "Ann L."],
    ["김민수", "김"],
    ["김민수".normalize("NFD"), "김"],
    ["山田 太郎", "山"],
    ["やまだ、たろう", "や"],
    ["ﾔﾏﾀﾞ ﾀﾛｳ", "ﾔ"],
    ["Kim 민수", "K"],
    ["🍵田中", "田"],
    [", X", "X"],
    ["X,", "X."],
    [",", ""],
    ["", ""],
    [" ", ""],
    ["😀", "😀"],
    ["😀 Ann Lee", "😀 L."],
    ["Ann 😀", "Ann"],
    ["ann.lee@mail.example", "ann L."],
    ["@ann", "@ann"],
    ["Ann ßen", "Ann S."],
  ])("of %j is %j", (name, shown) => {
    expect(shortenName(name)).toBe(shown);
  });

  it("contains no whole word after the given name, and no word before a comma", () => {
    const word = stringMatching(/^[A-Za-zÀ-ÖØ-öø-ÿ'-]{2,12}$/).filter(
      (text) => /[A-Za-z]{2}/.test(text) && !/^(?:jr|sr|i{2,3}|iv|esq|phd)$/i.test(text),
    );
    const separator = stringMatching(/^( {1,3}|[./])$/);
    assert(
      property(tuple(word, separator, word, separator, word), ([given, one, middle, other, family]) => {
        const wordsOf = (name: string) => shortenName(name).split(" ");
        expect(wordsOf(given + one + middle + other + family)[0]?.length).toBeLessThanOrEqual(given.length);
        expect(
          wordsOf(given + one + middle + other + family)
            .slice(1)
            .every((rest) => /^.\.$/u.test(rest)),
        ).toBe(true);
        expect(wordsOf(`${middle} ${family},${given}`)[0]).toBe(given);
        expect(wordsOf(`${middle} ${family}, ${given}`).slice(1).join("")).toMatch(/^(?:.\.)?$/u);
      }),
    );
  });

  it("of a name in Chinese, Japanese, or Korean script has one character", () => {
    const name = stringMatching(/^[\u4E00-\u9FFF\u3041-\u3096\u30A1-\u30FA\uAC00-\uD7A3][\u4E00-\u9FFF a-z,、]{0,8}$/u);
    assert(property(name, (text) => Array.from(shortenName(text)).length === 1));
  });
});

describe("a text with broken links", () => {
  it.each([
    ["Win at http://evil.example/x", "Win at http: //evil. example/x"],
    ["www.evil.example", "www. evil. example"],
    ["mail a@evil.example", "mail a@evil. example"],
    ["evil．example", "evil． example"],
    ["evil.\u200Bexample", "evil. \u200Bexample"],
    ["http:\u200B//localhost/", "http: \u200B//localhost/"],
    ["3.com, a.1", "3. com, a. 1"],
    ["Teapot 1.2 l, v2.0.1, 12:30. It pours.", "Teapot 1.2 l, v2.0.1, 12:30. It pours."],
  ])("%j is shown as %j", (text, shown) => {
    expect(breakLinks(text)).toBe(shown);
  });
});
