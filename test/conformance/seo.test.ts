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
  const none = { average_score: 0, total_reviews: 0, reviews: [] };

  it("shows a product and its reviews, the latest first, under public display names", async () => {
    const { service, harness: opened } = await ready(harness);
    await service.reviews.createNow(aReview({ display_name: "Ann Smith", review_score: 5 }));
    opened.clock.advance(60_000);
    await service.reviews.createNow(
      aReview({ email: "bob@mail.example", display_name: "Bob", review_score: 2, review_title: "Drips" }),
    );
    expect(await service.seo.page({ product_id: "teapot" })).toEqual({
      page: {
        my_reviews_url: expect.any(String) as string,
        product_id: "teapot",
        name: "Teapot",
        url: "https://shop.example/teapot",
        image_url: "https://shop.example/teapot.png",
        description: "It holds tea.",
        average_score: 3.5,
        total_reviews: 2,
        reviews: [
          {
            id: expect.any(Number) as number,
            title: "Drips",
            content: "It pours very well.",
            score: 2,
            display_name: "Bob",
            verified_buyer: false,
            anonymous: true,
            comment: null,
            created_at: "2026-03-15T12:01:00.000Z",
          },
          expect.objectContaining({ title: "Pours well", display_name: "Ann S.", score: 5 }),
        ],
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

  it("shows only the latest 50 reviews", async () => {
    const { service } = await ready(harness);
    for (let at = 0; at < 51; at += 1) {
      await service.reviews.createNow(aReview({ review_title: `No. ${at}`, email: `a${at}@mail.example` }));
    }
    const { page } = await service.seo.page({ product_id: "teapot" });
    expect([page.total_reviews, page.reviews.length]).toEqual([51, 50]);
    expect(page.reviews.map(({ title }) => title)).not.toContain("No. 0");
  });

  it("shows the store and only its own reviews", async () => {
    const { service } = await ready(harness);
    await service.reviews.createNow(aReview());
    await service.reviews.createNow(aReview({ sku: siteReviewsId, review_title: "A good store" }));
    const { page } = await service.seo.page({});
    expect(page).toMatchObject({
      product_id: null,
      name: "Tea & Co.",
      url: "https://shop.example",
      image_url: null,
      description: null,
      total_reviews: 1,
      reviews: [{ title: "A good store" }],
    });
    expect(await service.seo.page({ product_id: siteReviewsId })).toEqual({ page });
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
