import { expect, it } from "vitest";
import { maxPromoted } from "../../src/contract/index.ts";
import { describeBackends, type Harness, type TestAccount } from "../support/backends.ts";
import { aProduct } from "../support/builders.ts";
import { mentioning } from "../support/service-errors.ts";

async function withProducts(harness: Harness, ...ids: string[]): Promise<TestAccount> {
  const account = await harness.newAccount();
  await account.service.products.massCreate({ products: Object.fromEntries(ids.map((id) => [id, aProduct()])) });
  return account;
}

async function review({ service }: TestAccount, sku: string, ...scores: number[]): Promise<void> {
  for (const review_score of scores) {
    await service.reviews.createNow({
      sku,
      product_title: "Teapot",
      product_url: "https://shop.example/teapot",
      display_name: "Ann",
      email: "ann@mail.example",
      review_title: "Good",
      review_content: "A good pot",
      review_score,
    });
  }
}

async function promotedOf({ service }: TestAccount) {
  const { products } = await service.products.promoted({});
  return products.map(({ domain_key }) => domain_key);
}

describeBackends("products.promoted", (harness) => {
  it("returns the best-rated product, with all of its fields", async () => {
    const account = await harness().newAccount();
    await account.service.products.massCreate({
      products: { pot: aProduct({ price: "12.50", currency: "EUR", image_url: "https://i.example/1" }) },
    });
    await review(account, "pot", 5, 4, 4);
    const [stored] = (await account.service.core.listProducts({})).products;
    expect(await account.service.products.promoted({})).toEqual({
      products: [
        {
          products_app_id: stored?.id,
          url: "https://shop.example/teapot",
          price: 12.5,
          currency: "EUR",
          type: "Product",
          name: "Teapot",
          destination_app_key: account.caller.appKey,
          position: 1,
          source_products_app_id: null,
          matching_algorithm: "top_rated",
          domain_key: "pot",
          image_title: "Teapot",
          average_score: 4.33,
          total_review: 3,
          image: "https://i.example/1",
        },
      ],
    });
  });

  it("sorts by average, then by number of reviews, then by ID, and omits products without reviews", async () => {
    const account = await withProducts(harness(), "a", "b", "c", "d", "none");
    await review(account, "a", 4);
    await review(account, "b", 4);
    await review(account, "c", 4, 4);
    await review(account, "d", 5, 4);
    expect(await promotedOf(account)).toEqual(["d", "c", "a", "b"]);
  });

  it("omits blacklisted products, reviews of the store, and products beyond the maximum", async () => {
    const ids = Array.from({ length: maxPromoted + 2 }, (_, at) => `p${at}`);
    const account = await withProducts(harness(), ...ids);
    for (const id of ids) await review(account, id, 5);
    await review(account, "service_site_reviews", 5);
    await account.service.products.massUpdate({ products: { p0: { blacklisted: true } } });
    expect(await promotedOf(account)).toEqual(ids.slice(1, maxPromoted + 1));
  });

  it("counts only published reviews, and only a grouped product's own", async () => {
    const account = await withProducts(harness(), "a", "b");
    await review(account, "a", 5);
    await review(account, "b", 3);
    await account.service.groups.create({ group_name: "G" });
    await account.service.groups.update({ group_name: "G", product_ids_to_add: ["a", "b"] });
    expect(await promotedOf(account)).toEqual(["a", "b"]);
    const { reviews } = await account.service.reviews.list({});
    const best = reviews.find(({ sku }) => sku === "a");
    await account.service.reviews.setPublished({ review_id: best?.id ?? 0, published: false, reason: "spam" });
    expect(await account.service.products.promoted({})).toMatchObject({
      products: [{ domain_key: "b", average_score: 3, total_review: 1 }],
    });
  });
});

describeBackends("products.setPromoted", (harness) => {
  it("returns the products that the store chose, in its order, even without reviews, and marks them", async () => {
    const account = await withProducts(harness(), "a", "b", "c", "7");
    await review(account, "a", 5);
    const chosen = await account.service.products.setPromoted({ product_ids: ["c", 7, "a"] });
    expect(chosen.products).toMatchObject([
      {
        domain_key: "c",
        position: 1,
        matching_algorithm: "manual",
        average_score: 0,
        total_review: 0,
        price: 0,
        currency: "",
        image: "",
      },
      { domain_key: "7", position: 2 },
      { domain_key: "a", position: 3, average_score: 5, total_review: 1 },
    ]);
    expect(await account.service.products.promoted({})).toEqual(chosen);
  });

  it("replaces a choice with another, and clears it with an empty one", async () => {
    const account = await withProducts(harness(), "a", "b", "c");
    await review(account, "a", 5);
    await account.service.products.setPromoted({ product_ids: ["c", "b"] });
    await account.service.products.setPromoted({ product_ids: ["b"] });
    expect(await promotedOf(account)).toEqual(["b"]);
    const { products } = await account.service.products.setPromoted({ product_ids: [] });
    expect(products).toMatchObject([{ domain_key: "a", matching_algorithm: "top_rated" }]);
    expect(await promotedOf(account)).toEqual(["a"]);
  });

  it("rejects unknown, repeated, or too many products, and keeps the previous choice", async () => {
    const account = await withProducts(harness(), "a", "b");
    await withProducts(harness(), "theirs");
    const { products } = account.service;
    await products.setPromoted({ product_ids: ["a"] });
    for (const [product_ids, message] of [
      [["b", "theirs", "none"], mentioning("product_ids", "theirs")],
      [["b", "a", "b"], mentioning("product_ids", "b", "more than once")],
      [Array.from({ length: maxPromoted + 1 }, (_, at) => `p${at}`), mentioning("product_ids", maxPromoted)],
      ["a", mentioning("product_ids", "list")],
    ] as const) {
      await expect(products.setPromoted({ product_ids: product_ids as never })).rejects.toMatchObject({
        kind: "invalidParams",
        message,
      });
    }
    await expect(products.setPromoted({} as never)).rejects.toMatchObject({ message: "Missing product_ids" });
    expect(await promotedOf(account)).toEqual(["a"]);
  });
});
