import { expect, it } from "vitest";
import { describeBackends } from "../support/backends.ts";
import { anOrder, anOrderedProduct, aProduct, aReview, bulkOrders } from "../support/builders.ts";

const specs = { upc: "0123", mpn: "M-1", brand: "Acme", isbn: "978", sku: "S-1", external_sku: "X-1" };
const storedSpecs = { ...specs, upc: "123" };

describeBackends("the details option of lists", (harness) => {
  it("adds the order's own fields, the unit price, and the product's specs to purchases", async () => {
    const { service } = await harness().newAccount();
    const product = anOrderedProduct({ image: "https://shop.example/i.jpg", price: 9.5, specs });
    await service.orders.massCreate(
      bulkOrders(
        [
          anOrder({
            currency_iso: "eur",
            user_reference: "u-1",
            products: { teapot: { ...product, product_tags: "tea,pot" } },
          }),
          anOrder({ order_id: "1002", products: { cup: anOrderedProduct({ image: "", price: null }) } }),
        ],
        { platform: "shopify" },
      ),
    );
    const { purchases } = await service.orders.list({ details: true });
    expect(purchases[0]).toMatchObject({
      platform: "shopify",
      currency_iso: "EUR",
      user_reference: "u-1",
      product_image: "https://shop.example/i.jpg",
      product_price: "9.5",
      product_tags: "tea,pot",
      ...storedSpecs,
    });
    expect(purchases[1]).toMatchObject({
      currency_iso: null,
      user_reference: null,
      product_image: null,
      product_price: null,
      product_tags: null,
      external_sku: null,
    });
    const plain = await service.orders.list({});
    for (const [at, purchase] of plain.purchases.entries()) {
      expect(Object.keys(purchase)).toHaveLength(10);
      expect(purchases[at]).toMatchObject(purchase);
    }
  });

  it("adds tags, the blacklist flag, and each spec by name to products", async () => {
    const { service } = await harness().newAccount();
    await service.products.massCreate({
      products: { teapot: aProduct({ specs, product_tags: "tea", blacklisted: true }), cup: aProduct() },
    });
    const { products } = await service.core.listProducts({ details: true });
    expect(products[0]).toMatchObject({ product_tags: "tea", blacklisted: true, ...storedSpecs });
    expect(products[1]).toMatchObject({ product_tags: null, blacklisted: false, upc: null, isbn: null });
    const plain = await service.core.listProducts({ details: false });
    expect(plain.products.map((product) => Object.keys(product).length)).toEqual([15, 15]);
  });

  it("adds the publication state, the comment, and the product's name and URL to reviews", async () => {
    const { service } = await harness().newAccount();
    const { reviews } = await service.reviews.createNow(aReview());
    await service.reviews.createNow(aReview({ sku: "service_site_reviews" }));
    const review_id = reviews[0]?.id ?? 0;
    await service.reviews.comment({ review_id, content: "Thanks" });
    await service.reviews.setPublished({ review_id, published: false, reason: "rude" });
    const listed = await service.reviews.list({ details: true, deleted: true });
    expect(listed.reviews).toMatchObject([
      { published: false, comment: "Thanks", product_title: "Teapot", product_url: "https://shop.example/teapot" },
      { published: true, comment: null, product_title: null, product_url: null },
    ]);
    const plain = await service.reviews.list({ deleted: true });
    expect(plain.reviews.map((review) => Object.keys(review).length)).toEqual([14, 14]);
  });
});
