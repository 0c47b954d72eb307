import { describe, expect, test } from "vitest";
import { tooComplex } from "../../../../src/import/check/damaged-values.ts";
import { findDateOrder } from "../../../../src/import/layouts/choose-layout.ts";
import {
  isNumberedDate,
  orderOf,
  ordersOf,
  readNamedDate,
  readNumberedDate,
} from "../../../../src/import/layouts/dates.ts";
import { asText, asTextWithEscapes, loadHtmlReader } from "../../../../src/import/layouts/html.ts";
import {
  asBarcode,
  asDay,
  asFirstUrl,
  asOrderNumber,
  asPrice,
  asTags,
  isIsbn,
  isNoIsbn,
  isNoUrl,
  isZero,
  unitPrice,
} from "../../../../src/import/layouts/values.ts";

const context = { field: () => "", dateOrder: undefined } as const;

describe("dates in shop exports", () => {
  test.each([
    ["Aug 14, 2018 8:43:09 PM", "2018-08-14"],
    ["August 4, 2018, 8:43 am", "2018-08-04"],
    ["14 Aug 2018", "2018-08-14"],
    ["14th August 2018 @ 20:43", "2018-08-14"],
    ["Mon, 23 Sep 2024 14:21:24 +0000", "2024-09-23"],
    ["Feb 30, 2018", "Feb 30, 2018"],
    ["Foo 3, 2018", "Foo 3, 2018"],
    ["Aug 14, 20180", "Aug 14, 20180"],
  ])("parses %s as %s", (written, day) => {
    expect(readNamedDate(written)).toBe(day);
  });

  test.each(["January", "February", "March", "April", "May", "June"])("reads %s", readsMonth);
  test.each(["July", "August", "September", "October", "November", "December"])("reads %s", readsMonth);

  function readsMonth(name: string) {
    const months = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const month = String(months.indexOf(name.slice(0, 3)) / 3 + 1).padStart(2, "0");
    const forms = (text: string) => [
      `${text} 9 2025`,
      `${text}.  09th,  2025 10:00`,
      `Tue ${text} 9, 2025`,
      `Tuesday,  ${text} 9, 2025`,
      `9 ${text} 2025`,
      `9.  ${text}.,  2025`,
      `09th-${text}-2025`,
      `9 - ${text} - 2025`,
      `Tue 9 ${text} 2025`,
      `Tue,  9th ${text.toUpperCase()} 2025T10:00`,
    ];
    for (const written of [...forms(name), ...forms(name.slice(0, 3))]) {
      expect(readNamedDate(written), written).toBe(`2025-${month}-09`);
    }
  }

  test.each([
    "x9 Aug 2025",
    "of Aug 9, 2025",
    "9 Au 2025",
    "Au 9, 2025",
    "Aug 999, 2025",
    "999 Aug 2025",
    "Aug 9, 202",
    "9 Aug 20255",
    "Aug9 2025",
    "9Aug 2025",
    "Aug 9,2025",
    "Mon,Aug 9, 2025",
    "Mon,9 Aug 2025",
    "12 Aug 9, 2025",
    "1, 9 Aug 2025",
    "Aug 9xx, 2025",
    "",
  ])("does not take %j for a date", (written) => {
    expect(readNamedDate(written)).toBe(written);
  });

  test.each([
    ["1/2/2026", "2026-02-01"],
    ["01-02-2026T10", "2026-02-01"],
    ["12.12.2026", "2026-12-12"],
    ["13/1/2026", "2026-01-13"],
    ["1/2.2026", undefined],
    ["1/2/20266", undefined],
    ["1/2/26", "2026-02-01"],
    ["1/2/226", undefined],
    ["1/2/6", undefined],
    ["x1/2/2026", undefined],
    ["111/2/2026", undefined],
    ["1/222/2026", undefined],
    ["1 2 2026", undefined],
  ])("reads the numbers of %j, day first, as %s", (written, day) => {
    expect(readNumberedDate(written, "day-first")).toBe(day ?? written);
    expect(isNumberedDate(written)).toBe(day !== undefined);
  });

  test.each([
    ["13/12/2026", "day-first"],
    ["12/13/2026", "month-first"],
    ["12/12/2026", undefined],
    ["13/13/2026", undefined],
    ["no date", undefined],
  ])("%s shows the order %s", (written, order) => {
    expect(orderOf(written)).toBe(order);
  });

  test("numbers are read in the given order, and an impossible day is rejected", () => {
    expect(readNumberedDate("01/02/2026", "day-first")).toBe("2026-02-01");
    expect(readNumberedDate("01/02/2026 10:00", "month-first")).toBe("2026-01-02");
    expect(readNumberedDate("14.08.2018", "day-first")).toBe("2018-08-14");
    expect(readNumberedDate("08/14/2018", "day-first")).toBe("08/14/2018");
    expect(readNumberedDate("31/02/2018", "day-first")).toBe("31/02/2018");
  });

  test("without an order, only an unambiguous date is parsed", () => {
    expect(readNumberedDate("14/08/2018", undefined)).toBe("2018-08-14");
    expect(readNumberedDate("08/14/2018", undefined)).toBe("2018-08-14");
    expect(readNumberedDate("01/02/2018", undefined)).toBe("01/02/2018");
  });

  test("the day is the one that is written, whatever the offset", () => {
    expect(asDay("2018-08-14 23:59:09 -0300", context)).toBe("2018-08-14 23:59:09 -0300");
    expect(asDay("12/31/2018", { ...context, dateOrder: "month-first" })).toBe("2018-12-31");
  });

  test("a year of two digits is in this century, and shows no order", () => {
    expect(readNumberedDate("26/10/01", "year-first")).toBe("2026-10-01");
    expect(readNumberedDate("1/10/01", "year-first")).toBe("1/10/01");
    expect(readNumberedDate("01/10/2026", "year-first")).toBe("01/10/2026");
    expect(readNumberedDate("13/10/26", undefined)).toBe("13/10/26");
    expect(ordersOf("01/02/03")).toEqual(["day-first", "month-first", "year-first"]);
    expect(ordersOf("13/12/26")).toEqual(["day-first", "year-first"]);
    expect(ordersOf("13/12/2026")).toEqual(["day-first"]);
    expect(ordersOf("32/13/2026")).toEqual([]);
  });
});

describe("the order of day and month in a column", () => {
  const find = (...values: string[]) => findDateOrder("o.csv", "Order Date", values);
  const hintOf = (...values: string[]) => {
    try {
      return find(...values);
    } catch (error) {
      return (error as { readonly hint?: string }).hint;
    }
  };

  test.each([
    ["month-first", ["", "01/02/2018", "08/14/2018"]],
    ["day-first", ["14/08/2018"]],
    ["day-first", ["01/02/18", "14/08/18", "14/02/31"]],
    ["year-first", ["26/10/01", "99/10/02"]],
    // Values that are no date in any order do not count; neither do dates that no order changes.
    ["day-first", ["14/08/2018", "15/08/2018", "99/99/2018", "soon"]],
    ["day-first", ["01/01/2018", "02/02/2018"]],
    [undefined, ["2018-08-14", "", "Aug 3, 2018"]],
    [undefined, []],
  ])("is %s for %j", (order, values) => {
    expect(find(...values)).toBe(order);
  });

  test("several possible orders are refused, with the flag that states one", () => {
    expect(() => find("12/12/2018", "01/02/2018")).toThrow(/^o.csv: the dates in 'Order Date', such as 01\/02\/2018/);
    expect(hintOf("01/02/2018")).toBe(
      "specify the order: --date-format dmy for day first, --date-format mdy for month first",
    );
    expect(hintOf("10/01/26", "10/02/26")).toContain("--date-format ymd");
  });

  test("dates of different orders are refused", () => {
    expect(() => find("14/08/2018", "01/02/2018", "08/14/2018")).toThrow(/different orders.* 08\/14\/2018/);
    expect(hintOf("14/08/2018", "08/14/2018")).toMatch(/--date-format dmy .*--date-format mdy .*first$/);
    expect(hintOf("14/08/2018", "08/14/2018")).not.toContain("ymd");
  });

  test("a column that mostly has other dates has no order, as its first thousand values show", () => {
    const others = (count: number) => Array.from({ length: count }, () => "2026-01-02");
    expect(find("14/08/2018", ...others(2))).toBeUndefined();
    expect(find("14/08/2018", ...others(1), "")).toBe("day-first");
    expect(find("14/08/2018", "01/02/2018", ...others(2))).toBe("day-first");
    const half = [...others(500), ...Array.from({ length: 500 }, () => "14/08/2018")];
    expect(find(...half, ...others(1_000))).toBe("day-first");
    expect(() => find(...half, "08/14/2018")).toThrow(/different orders/);
    expect(find("2026-01-02", ...half)).toBeUndefined();
  });
});

describe("other values", () => {
  test("HTML is converted to the text that a reader sees", async () => {
    await loadHtmlReader();
    const html =
      "<h2>Größe</h2><p>A <b>bold</b> cup &amp; saucer, <a href='https://x.example'>see</a>.<br>Two</p>" +
      "<ul><li>One</li><li>Two</li></ul><img src='x.png' alt='x'><style>p{}</style><script>alert(1)</script>";
    expect(asText(html)).toBe("Größe\n\nA bold cup & saucer, see.\nTwo\n\n- One\n- Two");
    expect(asText("plain; text")).toBe("plain; text");
    expect(asText("a < b&nbsp;c")).toBe("a < b c");
    expect(asTextWithEscapes(String.raw`one\ntwo \\n three`)).toBe(`one\ntwo ${String.raw`\n`} three`);
  });

  test("HTML with too many or too deeply nested elements is refused", async () => {
    await loadHtmlReader();
    const nested = (depth: number) => `${"<div>".repeat(depth)}x${"</div>".repeat(depth)}`;
    expect(asText(nested(250))).toBe("x");
    expect([asText(nested(257)), asText("<b>".repeat(257))]).toEqual([tooComplex, tooComplex]);
    // Elements without content, and those that the next one ends, are not nested.
    expect(asText("x<br>".repeat(300))).toBe(Array(300).fill("x").join("\n"));
    expect(asText("<P>x".repeat(300)).split("\n\n")).toHaveLength(300);
    expect(asText("<ul>".concat("<li>x".repeat(300), "</ul>")).split("\n")).toHaveLength(300);
    expect(asText(`${"</div>".repeat(300)}${nested(100)}`)).toBe("x");
    expect(asText(nested(200).repeat(5)).replaceAll("\n", "")).toBe("xxxxx");
    expect(asText("<b>x</b>".repeat(9_999))).toHaveLength(9_999);
    expect(asText(`${"<b>x</b>".repeat(10_000)}<br>`)).toBe(tooComplex);
  });

  test("tables are read by rows, without absurd spans", async () => {
    await loadHtmlReader();
    const table = (attribute: string) => `<table><tr><th ${attribute}>a</th><th>B</th></tr></table>`;
    expect(asText(table(""))).toMatch(/^a +B$/);
    const width = (attribute: string) => asText(table(attribute)).length;
    for (const span of ["11", "1e9", "x", "-1e9 x"]) expect(width(`colspan="${span}"`)).toBe(width(""));
    expect(width('colspan="10"')).toBeGreaterThan(width('colspan="2"'));
    expect(asText(table('rowspan="1e9"'))).toBe(asText(table("")));
  });

  test("the first of several image URLs is used, whatever separates them", () => {
    expect(asFirstUrl("https://a.example/1.png, https://a.example/2.png")).toBe("https://a.example/1.png");
    expect(asFirstUrl("https://a.example/1,2.png|https://a.example/2.png")).toBe("https://a.example/1,2.png");
  });

  test.each([
    ["https://a.example/1.png", "https://a.example/1.png"],
    [" https://a.example/1.png ;  http://b.example/2.png", "https://a.example/1.png"],
    ["HTTPS://a.example|HTTP://b.example", "HTTPS://a.example"],
    ["a.png, b.png", "a.png, b.png"],
    ["", ""],
  ])("the first URL of %j is %j", (value, url) => {
    expect(asFirstUrl(value)).toBe(url);
  });

  test.each([
    ["0", true],
    [" 0,00 ", true],
    [".0", true],
    ["00", true],
    ["", false],
    [".", false],
    ["0x", false],
    ["x0", false],
    ["0.01", false],
    ["0".repeat(64), true],
    ["0".repeat(65), false],
  ])("%j is zero: %s", (value, expected) => {
    expect(isZero(value)).toBe(expected);
  });

  test.each([
    ["9783161484100", true],
    ["'9793161484100", true],
    ["9773161484100", false],
    ["978316148410", false],
    ["97831614841000", false],
    ["x9783161484100", false],
  ])("%s is an ISBN: %s", (value, expected) => {
    expect([isIsbn(value), isNoIsbn(value)]).toEqual([expected, !expected]);
  });

  test.each([
    ["https://x", false],
    ["HTTP://x", false],
    ["/var/x", true],
    ["see https://x", true],
    ["https:/x", true],
  ])("%s is no URL: %s", (value, expected) => {
    expect(isNoUrl(value)).toBe(expected);
  });

  test("prices use the currency of their row", () => {
    const inCurrency = (currency: string) => ({
      ...context,
      field: (name: string) => (name === "currency_iso" ? currency : ""),
    });
    expect([asPrice("1,234", inCurrency("USD")), asPrice("1,234", context)]).toEqual(["1234", "1,234"]);
    expect([asPrice("€ 5", context), asPrice("free", context)]).toEqual(["5", "free"]);
    expect([unitPrice("x", "2"), unitPrice("5", "1"), unitPrice("5", "x"), unitPrice("5", "-2")]).toEqual([
      "x",
      "5",
      "5",
      "5",
    ]);
    expect(asDay("Aug 9, 2025", context)).toBe("2025-08-09");
    expect([asBarcode("0'1"), asTags(""), asOrderNumber("1#")]).toEqual(["0'1", "", "1#"]);
  });

  test("IDs, tags, barcodes, and amounts", () => {
    expect([asOrderNumber("#1001"), asOrderNumber("EN#1"), asOrderNumber("#")]).toEqual(["1001", "EN#1", "#"]);
    expect(asTags(" Tea , ,Kitchen ")).toBe("Tea,Kitchen");
    expect(asBarcode("'0123")).toBe("0123");
    expect([isIsbn("9783161484100"), isIsbn("4006381333931")]).toEqual([true, false]);
    expect([isZero("0"), isZero("0.0000"), isZero("10"), isZero("")]).toEqual([true, true, false, false]);
    expect([unitPrice("36.00", "2"), unitPrice("10", "3"), unitPrice("5", "")]).toEqual(["18", "3.3333", "5"]);
  });
});
