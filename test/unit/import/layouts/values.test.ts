import { describe, expect, test } from "vitest";
import { findDateOrder } from "../../../../src/import/layouts/choose-layout.ts";
import { readNamedDate, readNumberedDate } from "../../../../src/import/layouts/dates.ts";
import { asText, asTextWithEscapes, loadHtmlReader } from "../../../../src/import/layouts/html.ts";
import { kinds } from "../../../support/record-kinds.ts";
import {
  asBarcode,
  asDay,
  asFirstUrl,
  asOrderNumber,
  asTags,
  isIsbn,
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

  test("one unambiguous date determines the order for the file", () => {
    const layout = kinds.get("orders").layouts.find(({ name }) => name === "bigcommerce-orders");
    if (!layout) throw new Error("there is no such layout");
    expect(findDateOrder("o.csv", layout, "Order Date", ["", "01/02/2018", "08/14/2018"])).toBe("month-first");
    expect(findDateOrder("o.csv", layout, "Order Date", ["14/08/2018"])).toBe("day-first");
    expect(findDateOrder("o.csv", layout, "Order Date", ["2018-08-14", ""])).toBeUndefined();
    expect(() => findDateOrder("o.csv", layout, "Order Date", ["01/02/2018"])).toThrow(
      /'Order Date', such as 01\/02\/2018/,
    );
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

  test("the first of several image URLs is used, whatever separates them", () => {
    expect(asFirstUrl("https://a.example/1.png, https://a.example/2.png")).toBe("https://a.example/1.png");
    expect(asFirstUrl("https://a.example/1,2.png|https://a.example/2.png")).toBe("https://a.example/1,2.png");
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
