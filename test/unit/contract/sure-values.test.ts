import * as fc from "fast-check";
import type * as z from "zod";
import { describe, expect, test } from "vitest";
import {
  contract,
  isSurely,
  isSurelyHead,
  isSurelyPastReview,
  isSurelyProduct,
  maxLength,
  lineFields,
  orderFields,
  orderHead,
  orderProduct,
  type RecordField,
  shape,
  specFields,
} from "../../../src/contract/index.ts";
import { schemasOf } from "../../../src/contract/record-schema.ts";
import { countRuns } from "../../support/suite-size.ts";

const names = Object.keys(isSurely) as (keyof typeof isSurely)[];
const longest = {
  id: 255,
  legalId: 255,
  name: 1_024,
  content: 10_000,
  text: 65_535,
  reference: 255,
  tags: 4_096,
  price: 32,
} as const;

const samples = [
  ..."|a|a@b|a@b c|@b|https://a.example|HTTP://x|https://|ftp://a|1.50|.5|1.|-1|EUR|eur|EU".split("|"),
  ..."2026-02-28T10:00:00.000Z|2026-02-29T10:00:00.000Z|2026-02-28T24:00:00.000Z|0026-01-01T00:00:00.000Z".split("|"),
  ..."2026-02-28|2026-02-29|2026-13-01|2026-01-00|2026-2-1|\u0000|a\u0000|\ud800| ".split("|"),
];

const anyValue = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.constantFrom(...samples),
  fc.constantFrom(undefined, null, 1, true),
  fc.constantFrom("x".repeat(maxLength.id), "x".repeat(maxLength.id + 1), "1".repeat(32), "1".repeat(33)),
);

describe("values that are surely valid", () => {
  test.each(names)("%s: the shape returns them as they are", (name) => {
    fc.assert(
      fc.property(anyValue, (value) => {
        if (isSurely[name](value)) expect(shape[name].safeParse(value)).toMatchObject({ success: true, data: value });
      }),
      { numRuns: countRuns(300) },
    );
  });

  test.each<[keyof typeof isSurely, string[], unknown[]]>([
    ["id", ["a", "é", " a"], ["", " ", "a\u0000", "\ud800", 1, undefined]],
    ["name", ["a b"], ["", "\n", null]],
    ["text", ["", "a"], ["\u0000", 1]],
    ["reference", ["", "a"], ["\ud800"]],
    ["tags", ["", "a,b"], ["\u0000", ["a"]]],
    ["email", ["a@b"], ["a", "a@b@c", "a b@c", ""]],
    ["url", ["https://a.example", "HTTP://a"], ["https://", "ftp://a", ""]],
    [
      "date",
      ["2024-02-29", "2026-12-31", "2026-01-01"],
      ["2026-02-29", "2026-04-31", "2026-01-32", "2026-00-10", "2026-13-10", "2026-01-00", "2026-1-1", 1],
    ],
    [
      "time",
      ["2026-02-28T23:59:59.999Z"],
      ["2026-02-29T00:00:00.000Z", "2026-01-01T24:00:00.000Z", "2026-01-01", "2026-01-01T00:00:00Z", 1],
    ],
    ["content", ["a\nb"], ["", " ", "\u0000"]],
    ["legalId", ["a-B_1"], ["a b", "", "__proto__", 1]],
    ["price", ["1", "1.50", ".5"], ["", "1,50", "-1", 1]],
    ["currency", ["EUR"], ["eur", "EU", "EURO", ""]],
  ])("%s", (name, valid, others) => {
    expect(valid.filter((value) => !isSurely[name](value))).toEqual([]);
    expect(others.filter((value) => isSurely[name](value))).toEqual([]);
  });

  test.each(Object.entries(longest))("%s: at most %i characters", (name, max) => {
    const check = isSurely[name as keyof typeof longest];
    expect([check("1".repeat(max)), check("1".repeat(max + 1))]).toEqual([true, false]);
  });

  test("email addresses and URLs have a maximum length", () => {
    const fill = (start: string, length: number) => start.padEnd(length, "a");
    expect([isSurely.email(fill("a@", 254)), isSurely.email(fill("a@", 255))]).toEqual([true, false]);
    expect([isSurely.url(fill("https://", 2_048)), isSurely.url(fill("https://", 2_049))]).toEqual([true, false]);
  });
});

const head = { email: "a@b", customer_name: "A", order_id: "1" };
const completeHead = { ...head, order_date: "2026-01-02", currency_iso: "EUR", user_reference: "r" };
const product = { name: "Chair", url: "https://a.example" };
const completeProduct = {
  ...product,
  image: "https://a.example/a.jpg",
  description: "d",
  price: "1.50",
  product_tags: "t",
  specs: { sku: "s", upc: "1" },
};

describe("orders that are surely valid", () => {
  test.each([head, completeHead])("%j", (given) => {
    expect(isSurelyHead(given)).toBe(true);
    expect(orderHead().parse(given)).toEqual(given);
  });

  test.each([product, { ...product, image: "" }, completeProduct])("%j", (given) => {
    expect(isSurelyProduct(given)).toBe(true);
    expect(orderProduct().parse(given)).toEqual(given);
  });

  const tables = { order: orderFields, "line item": lineFields, spec: specFields } as const;
  const sure: Readonly<Record<keyof typeof tables, (field: string, value: unknown) => boolean>> = {
    order: (field, value) => isSurelyHead({ ...completeHead, [field]: value }),
    "line item": (field, value) => isSurelyProduct({ ...completeProduct, [field]: value }),
    spec: (field, value) => isSurelyProduct({ ...product, specs: { [field]: value } }),
  };
  const allFields = Object.entries(tables).flatMap(([table, fields]) =>
    Object.entries<RecordField>(fields).map(([field, { isRequired }]) => [table, field, isRequired === true] as const),
  );

  test.each(allFields)("%s %s: only values that the schema returns as they are", (table, field, isRequired) => {
    const isSure = (value: unknown) => sure[table as keyof typeof tables](field, value);
    const schemas: Readonly<Record<string, z.ZodType>> = schemasOf(tables[table as keyof typeof tables], "create");
    const check = (value: unknown) => {
      if (isSure(value)) expect(schemas[field]?.safeParse(value)).toMatchObject({ success: true, data: value });
    };
    fc.assert(fc.property(anyValue, check), { numRuns: countRuns(300) });
    expect([isSure(undefined), isSure("\u0000"), isSure(null)]).toEqual([!isRequired, false, false]);
  });

  test("leaves null to the schema", () => {
    expect(isSurelyHead({ ...head, order_date: null })).toBe(false);
    expect(isSurelyProduct({ ...product, image: null })).toBe(false);
    expect(isSurelyProduct({ ...product, specs: null })).toBe(false);
  });

  test.each([
    ["text", "x"],
    ["null", null],
    ["a list", [product]],
    ["a quantity", { ...product, quantity: 1 }],
    ["unit prices", { ...product, unit_prices: ["1"] }],
    ["specs as text", { ...product, specs: "x" }],
    ["specs as a list", { ...product, specs: ["x"] }],
  ])("leaves %s to the schema", (_, given) => {
    expect(isSurelyProduct(given)).toBe(false);
  });
});

const review = {
  sku: "p1",
  product_title: "Chair",
  display_name: "A",
  email: "a@b",
  review_content: "Good",
  review_title: "T",
  review_score: 5,
  past: { created_at: "2026-01-02T03:04:05.678Z" },
};
const completeReview = {
  ...review,
  product_url: "https://a.example",
  product_description: "d",
  product_image_url: "https://a.example/a.jpg",
  user_reference: "r",
  past: { ...review.past, published: false, comment: "Thanks" },
};

describe("past reviews that are surely valid", () => {
  const { input } = contract.reviews.createNow;

  test.each([review, completeReview])("%j", (given) => {
    expect(isSurelyPastReview(given)).toBe(true);
    expect(input.parse(given)).toEqual(given);
  });

  test.each(Object.keys(completeReview))("not with an invalid %s", (field) => {
    expect(isSurelyPastReview({ ...completeReview, [field]: "\u0000" })).toBe(false);
    expect(isSurelyPastReview({ ...completeReview, [field]: null })).toBe(false);
  });

  test.each<[string, object]>([
    ["a score out of range", { review_score: 6 }],
    ["a score as text", { review_score: "5" }],
    ["an unknown field", { colour: "red" }],
    ["an unknown past field", { past: { ...review.past, colour: "red" } }],
    ["images", { past: { ...review.past, images: ["https://a.example/a.jpg"] } }],
    ["a past as text", { past: "x" }],
    ["an empty image URL", { product_image_url: "" }],
  ])("leaves %s to the schema", (_, changes) => {
    expect(isSurelyPastReview({ ...review, ...changes })).toBe(false);
  });
});
