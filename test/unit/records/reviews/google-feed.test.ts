import { describe, expect, test } from "vitest";
import { googleFeed } from "../../../../src/records/reviews/layouts/google-feed.ts";
import type { Service } from "../../../../src/service/service.ts";

const review = {
  id: 7,
  published: true,
  review_title: "Good",
  review_content: "Fine",
  review_score: 4,
  date: "2026-01-02T03:04:05.678Z",
  product_id: "cup",
  display_name: "Ann Mary Lee",
  user_type: "anonymous",
  product_title: "Cup",
  product_url: "https://shop.example/cup",
  image_urls: null,
};

/** The feed of one review, of a store without a name and without products. */
async function write(changes: Partial<Record<keyof typeof review, string | number | null>> = {}) {
  const service = {
    account: { settings: async () => ({ settings: { name: null } }) },
    core: { listProducts: async () => ({ products: [], pagination: {} }) },
  } as unknown as Service;
  const form = await googleFeed.createForm({ toText: (text) => text, hasByteOrderMark: false }, service, {});
  const record = { ...review, ...changes };
  const values = googleFeed.fields.map((field) => record[field as keyof typeof review]);
  return { ...form, review: form.rows([values], true) };
}

describe("the feed", () => {
  test("names the publisher, even if the store has no name", async () => {
    const { start, end } = await write();
    expect(start).toMatch(/<publisher>\s*<name>\w+<\/name>\s*<\/publisher>\s*<reviews>\n$/);
    expect(end.replaceAll(/\s/g, "")).toBe("</reviews></feed>");
  });

  test.each([
    ["Ann Mary Lee", "<name>Ann L.</name>"],
    ["Ann", "<name>Ann</name>"],
    ["Zoë 😀x", "<name>Zoë X.</name>"],
    ["O'Brien, Pat", "<name>Pat O.</name>"],
    [" ", '<name is_anonymous="true">Anonymous</name>'],
  ])("shortens the name %j", async (display_name, expected) => {
    expect((await write({ display_name })).review).toContain(expected);
  });

  test("contains only characters that XML allows", async () => {
    const { review: written } = await write({
      review_content: 'a\u0000\u0008\u000B\u001F\uFFFE\uFFFFb\t\uD800c\n<&>"',
    });
    expect(written).toContain("<content>ab\t\uFFFDc\n&lt;&amp;&gt;&quot;</content>");
  });

  test.each([
    ["anonymous", false],
    ["verified_reviewer", true],
  ])("has photos that a reviewer uploaded, of type %s: %s", async (user_type, isShown) => {
    const urls = ["https://img.example/1.jpg", "https://reviews.example/starpost/v1/images/2"];
    const { review: written } = await write({ user_type, image_urls: urls.join(",") });
    expect(urls.map((url) => written.includes(`<url>${url}</url>`))).toEqual([true, isShown]);
  });

  test("has a date without fractions, and the product ID as SKU", async () => {
    const { review: written } = await write({ review_title: "" });
    expect(written).toContain("<review_timestamp>2026-01-02T03:04:05Z</review_timestamp>");
    expect(written).toContain("<product_ids><skus><sku>cup</sku></skus></product_ids>");
    expect(written).toContain("<is_verified_purchase>false</is_verified_purchase>");
    expect(written).not.toMatch(/<title>|<reviewer_images>/);
  });
});

test.each([
  [{}, true],
  [{ published: false }, false],
  [{ product_url: "" }, false],
  [{ product_url: null }, false],
  [{ product_id: "service_site_reviews" }, false],
])("with %j, the review is included: %s", (changes, isIncluded) => {
  expect(googleFeed.omits?.({ ...review, ...changes }) === undefined).toBe(isIncluded);
});

test("reviews are sorted by date, and then by ID", () => {
  const key = (date: string, id: number) => googleFeed.sortKeyOf({ ...review, date, id });
  expect([key("2026-01-02", 1), key("2026-01-01", 10), key("2026-01-01", 9)].toSorted()).toEqual([
    key("2026-01-01", 9),
    key("2026-01-01", 10),
    key("2026-01-02", 1),
  ]);
});
