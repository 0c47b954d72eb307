import { describe, expect, it } from "vitest";
import { siteReviewsId } from "../../src/contract/index.ts";
import { describeBackends } from "../support/backends.ts";
import { aProduct, aReview } from "../support/builders.ts";

const ready = async (harness: Parameters<Parameters<typeof describeBackends>[1]>[0]) => {
  const account = await harness().newAccount("Tea & Co.");
  const { service } = account;
  await service.products.massCreate({
    products: {
      teapot: aProduct({ image_url: "https://shop.example/teapot.png", description: "It holds tea." }),
      cup: aProduct({ name: "Cup", url: "https://shop.example/cup" }),
    },
  });
  return { ...account, ...account.caller, harness: harness() };
};

describeBackends("seo.checkSubdomain", (harness) => {
  const check = async (subdomain: string) => {
    const { service } = await harness().newAccount("Tea & Co.");
    return (await service.seo.checkSubdomain({ subdomain })).subdomain;
  };

  it.each(["teashop", "TeaShop", "a", "4711", "a-b", "xn--mller-kva", "a".repeat(63)])(
    "reports %s as available",
    async (subdomain) => {
      expect(await check(subdomain)).toEqual({ available: "true", subdomain });
    },
  );

  it.each(["www", "API", "admin", "mail", "tea-co", "Tea-Co"])("reports %s as taken", async (subdomain) => {
    expect(await check(subdomain)).toEqual({ available: "false", subdomain });
  });

  it("ignores the slugs of reviewers", async () => {
    const { service } = await harness().newAccount();
    await service.reviews.createNow(aReview({ display_name: "Ann" }));
    expect(await service.seo.checkSubdomain({ subdomain: "ann" })).toEqual({
      subdomain: { available: "true", subdomain: "ann" },
    });
  });
});

describeBackends("seo.page", (harness) => {
  const noStars = { 1: 0, 2: 0, 3: 0, 4: 0, 5: 0 };
  const none = { average_score: 0, total_reviews: 0, star_distribution: noStars, reviews: [], photos: [] };

  it("shows a product and its reviews, the latest first, under public display names", async () => {
    const { service, harness: opened } = await ready(harness);
    await service.reviews.createNow(aReview({ display_name: "Ann Smith", review_score: 5 }));
    opened.clock.advance(60_000);
    await service.reviews.createNow(
      aReview({ email: "bob@mail.example", display_name: "Bob", review_score: 2, review_title: "Drips" }),
    );
    expect(await service.seo.page({ product_id: "teapot" })).toEqual({
      page: {
        takes_questions: true,
        page_url: expect.stringMatching(/\/products\/teapot$/) as string,
        my_reviews_url: expect.any(String) as string,
        product_id: "teapot",
        name: "Teapot",
        url: "https://shop.example/teapot",
        image_url: "https://shop.example/teapot.png",
        description: "It holds tea.",
        average_score: 3.5,
        total_reviews: 2,
        star_distribution: { ...noStars, 2: 1, 5: 1 },
        pagination: { page: 1, per_page: 50, total: 2 },
        stars: null,
        sort: "newest",
        reviews: [
          {
            id: expect.any(Number) as number,
            title: "Drips",
            content: "It pours very well.",
            score: 2,
            display_name: "Bob",
            verified_buyer: false,
            anonymous: true,
            votes_up: 0,
            votes_down: 0,
            photos: [],
            comment: null,
            created_at: "2026-03-15T12:01:00.000Z",
          },
          expect.objectContaining({ title: "Pours well", display_name: "Ann S.", score: 5 }),
        ],
        photos: [],
        questions: { pagination: { page: 1, per_page: 20, total: 0 }, total_answers: 0, questions: [] },
      },
    });
  });

  it("shows a product without reviews, and no unpublished reviews", async () => {
    const { service } = await ready(harness);
    expect(await service.seo.page({ product_id: "cup" })).toMatchObject({ page: { name: "Cup", ...none } });
    const { reviews } = await service.reviews.createNow(aReview({ sku: "cup" }));
    await service.reviews.setPublished({ review_id: reviews[0]?.id ?? 0, published: false, reason: "spam" });
    expect(await service.seo.page({ product_id: "cup" })).toMatchObject({ page: none });
  });

  it("shows all reviews on pages of 50, sorted, and those with a number of stars", async () => {
    const { service } = await ready(harness);
    for (let at = 0; at < 51; at += 1) {
      const scored = { review_score: at % 10 === 0 ? 4 : 5, review_title: `No. ${at}` };
      await service.reviews.createNow(aReview({ ...scored, email: `a${at}@mail.example` }));
    }
    const read = async (query: Parameters<typeof service.seo.page>[0]) => {
      const { reviews, pagination, total_reviews } = (await service.seo.page({ product_id: "teapot", ...query })).page;
      return { titles: reviews.map(({ title }) => title), total: pagination.total, total_reviews };
    };
    const [first, second] = [await read({}), await read({ page: 2 })];
    expect([first.total, first.titles.length, second.titles]).toEqual([51, 50, ["No. 0"]]);
    expect((await read({ sort: "oldest", page: 2 })).titles).toEqual(["No. 50"]);
    expect(await read({ stars: 4, sort: "oldest" })).toEqual({
      titles: [0, 10, 20, 30, 40, 50].map((at) => `No. ${at}`),
      total: 6,
      total_reviews: 51,
    });
    expect((await read({ page: 9 })).titles).toEqual([]);
  });

  it("shows the store's own reviews, and those of its products only on the overview", async () => {
    const { service } = await ready(harness);
    await service.reviews.createNow(aReview({ review_score: 4 }));
    await service.reviews.createNow(aReview({ sku: siteReviewsId, review_title: "A good store" }));
    const { page } = await service.seo.page({ product_id: siteReviewsId });
    const shown = {
      product_id: null,
      name: "Tea & Co.",
      url: "https://shop.example",
      image_url: null,
      description: null,
      total_reviews: 1,
      reviews: [{ title: "A good store" }],
    };
    expect(page).toMatchObject(shown);
    expect(page).not.toHaveProperty("overview");
    const teapot = { product_id: "teapot", name: "Teapot", url: "https://shop.example/teapot" };
    expect((await service.seo.page({})).page).toMatchObject({
      ...shown,
      overview: {
        pagination: { page: 1, per_page: 30, total: 1 },
        products: [{ ...teapot, average_score: 4, total_reviews: 1 }],
        latest_reviews: [{ title: "Pours well", product: teapot }],
      },
    });
  });

  it("returns recordNotFound for an unknown product", async () => {
    const { service } = await ready(harness);
    await expect(service.seo.page({ product_id: "pan" })).rejects.toMatchObject({
      kind: "recordNotFound",
      message: "Couldn't find ProductsApp with domain_key = pan",
    });
  });

  describe("of an account without an owner", () => {
    it("has a name", async () => {
      const { service, harness: opened } = await ready(harness);
      await opened.database.db.deleteFrom("users").execute();
      expect(await service.seo.page({})).toMatchObject({ page: { name: "This store", url: "" } });
      await service.account.setPlatform({
        account_platform: { shop_domain: "http://tea.example/shop", platform_type_id: "2" },
      });
      expect(await service.seo.page({})).toMatchObject({
        page: { name: "This store", url: "http://tea.example/shop" },
      });
    });
  });
});

describeBackends("storefront.element", (harness) => {
  it("shows the first reviews in the store's language, and links to the others", async () => {
    const { service, appKey } = await ready(harness);
    for (let at = 0; at < 3; at += 1) await service.reviews.createNow(aReview({ email: `a${at}@mail.example` }));
    const show = async (fields: object = {}) =>
      (await service.storefront.element({ product_id: "teapot", element: "reviews", per_page: 2, ...fields })).html;
    const english = await show();
    expect(english.match(/<article/g)).toHaveLength(2);
    expect(english).toContain(`/starpost/v1/pages/${appKey}/products/teapot#reviews">See all 3 reviews</a>`);
    await service.brand.set({ language: "de" });
    expect(await show()).toContain("Alle 3 Bewertungen ansehen");
    expect(await show({ language: "ja" })).toContain('lang="ja"');
    expect(await show({ element: "badge" })).toBe("");
    await service.reviews.createNow(aReview({ sku: siteReviewsId, review_score: 4 }));
    expect(await show({ element: "badge" })).toContain("/products/service_site_reviews#reviews");
  });

  it("shows the best reviews of all products, or chosen ones in their order, in a carousel without a product", async () => {
    const { service } = await ready(harness);
    const ids: number[] = [];
    for (const [at, sku] of ["teapot", "cup", siteReviewsId].entries()) {
      const given = aReview({ sku, email: `a${at}@mail.example`, review_title: `Title ${at}`, review_score: 3 + at });
      ids.push((await service.reviews.createNow(given)).reviews[0]?.id ?? 0);
    }
    const titles = async (fields: object) => {
      const { html } = await service.storefront.element({ element: "carousel", ...fields });
      return html.match(/Title \d/g);
    };
    expect(await titles({})).toEqual(["Title 1", "Title 0"]);
    expect(await titles({ review_ids: ids.slice(0, 2) })).toEqual(["Title 0", "Title 1"]);
    expect(await titles({ product_id: siteReviewsId })).toEqual(["Title 2"]);
    expect((await service.storefront.element({ element: "rating" })).html).toContain("5");
  });

  it("shows a rating as short as the element does, and describes it for screen readers", async () => {
    const { service } = await ready(harness);
    for (const review_score of [3, 5]) {
      await service.reviews.createNow(aReview({ review_score, email: `a${review_score}@mail.example` }));
    }
    const { html } = await service.storefront.element({ product_id: "teapot", element: "rating" });
    expect(html).toMatch(/aria-label="4 out of 5 from 2 reviews"><svg.*<\/svg> 4 \(2\)</);
  });

  it("shows nothing of an unknown product, and no links if an ID cannot be in a URL", async () => {
    const { service } = await ready(harness);
    const show = async (product_id: string, element: "rating" | "reviews" | "review-form") =>
      (await service.storefront.element({ product_id, element })).html;
    expect([await show("pan", "rating"), await show("a/b", "review-form")]).toEqual(["", ""]);
    expect(await show("pan", "reviews")).toContain("There are no reviews yet.");
  });
});
