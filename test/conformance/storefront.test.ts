import { expect, it } from "vitest";
import {
  defaultBrand,
  imageLimits,
  maxChosenReviews,
  maxRatedProducts,
  siteReviewsId,
  storefrontPage,
  type StorefrontSort,
  storefrontSorts,
} from "../../src/contract/index.ts";
import type { InputOf } from "../../src/service/transport.ts";
import { describeBackends, type TestAccount } from "../support/backends.ts";
import { aProduct, aReview } from "../support/builders.ts";
import { aQuestion, disableFeature, lastToken } from "../support/emails.ts";
import { hostileTexts, unstorableTexts } from "../support/hostile-texts.ts";
import { takePhoto } from "../support/photos.ts";
import { invalidField } from "../support/service-errors.ts";

type Query = InputOf<"storefront.reviews">;

const startMs = Date.UTC(2026, 0, 1);

/** The reviews of a product by number. Several have the same score, time, or number of votes. */
const samples = Array.from({ length: 34 }, (_, at) => ({
  at,
  score: 1 + ((at * 3) % 5),
  isVerified: at % 3 === 0,
  photos: at % 4 === 0 ? 1 + (at % 3) : 0,
  isAnonymous: at % 8 === 4,
  votes: at % 6 === 5 ? 2 : 0,
  createdMs: startMs + Math.floor(at / 2) * 60_000,
  words: ["pot", ...(at % 2 === 0 ? ["Größe"] : []), ...(at % 7 === 0 ? ["drips"] : [])],
}));

type Sample = (typeof samples)[number] & { readonly id: number };

async function storeSamples({ service }: TestAccount): Promise<readonly Sample[]> {
  const stored: Sample[] = [];
  for (const sample of samples) {
    const reviewer_type = sample.isVerified ? "verified_buyer" : "verified_reviewer";
    const { reviews } = await service.reviews.createNow(
      aReview({
        review_title: `Review ${sample.at}`,
        review_content: `${sample.words.join(" ")}, really.`,
        review_score: sample.score,
        display_name: "Ann Smith",
        email: `ann${sample.at}@mail.example`,
        past: {
          created_at: new Date(sample.createdMs).toISOString(),
          reviewer_type: sample.isAnonymous ? "anonymous" : reviewer_type,
          images: Array.from({ length: sample.photos }, (_, n) => `https://cdn.example/${sample.at}-${n}.jpg`),
          ...(sample.at === 1 && { comment: "Thank you." }),
        },
      }),
    );
    const id = reviews[0]?.id ?? 0;
    for (let n = 0; n < sample.votes; n += 1) await service.reviews.vote({ review_id: id, vote_type: "up" });
    stored.push({ ...sample, id });
  }
  return stored;
}

const hasPhotos = ({ photos }: Sample) => photos > 0;
const isVerified = (sample: Sample) => sample.isVerified && !sample.isAnonymous;

const keys: Readonly<Record<StorefrontSort, (sample: Sample) => number>> = {
  newest: ({ createdMs }) => -createdMs,
  oldest: ({ createdMs }) => createdMs,
  highest: ({ score }) => -score,
  lowest: ({ score }) => score,
  most_helpful: ({ votes }) => -votes,
};

function sortBy(sort: StorefrontSort, found: readonly Sample[]): readonly Sample[] {
  const sign = sort === "oldest" || sort === "lowest" ? 1 : -1;
  const compare = (a: Sample, b: Sample) =>
    keys[sort](a) - keys[sort](b) || sign * (a.createdMs - b.createdMs) || sign * (a.id - b.id);
  return found.toSorted(compare);
}

const distributionOf = (found: readonly Sample[]) =>
  Object.fromEntries([1, 2, 3, 4, 5].map((stars) => [stars, found.filter(({ score }) => score === stars).length]));

const filters: readonly (readonly [Query, (sample: Sample) => boolean])[] = [
  [{}, () => true],
  [{ with_photos: true }, hasPhotos],
  [{ verified: true }, isVerified],
  [{ with_photos: true, verified: true }, (sample) => hasPhotos(sample) && isVerified(sample)],
  [{ with_photos: false, verified: false }, () => true],
  [{ search: "DRIPS" }, ({ words }) => words.includes("drips")],
  [{ search: "grosse" }, () => false],
  [{ search: "große" }, ({ words }) => words.includes("Größe")],
  [{ search: "größe, pot" }, ({ words }) => words.includes("Größe")],
  [{ search: '"pot drips"' }, ({ words }) => words.join(" ").startsWith("pot drips")],
  [{ search: "pot", verified: true }, isVerified],
  [{ search: "drips", with_photos: true }, (sample) => hasPhotos(sample) && sample.words.includes("drips")],
  [{ search: "Smith" }, () => false],
  [{ search: "none" }, () => false],
];

describeBackends("storefront.reviews", (harness) => {
  const ready = async () => {
    const account = await harness().newAccount("Tea & Co.");
    const stored = await storeSamples(account);
    await account.service.reviews.createNow(aReview({ sku: siteReviewsId, review_title: "A good store" }));
    await account.service.reviews.createNow(aReview({ sku: "cup", product_title: "Cup", review_title: "Other" }));
    return { ...account, stored, shop: harness().service({ appKey: account.caller.appKey }).storefront };
  };

  it("finds the reviews that match filters, in every order, page by page, and counts them", async () => {
    const { shop, stored } = await ready();
    for (const [filter, isMatch] of filters) {
      for (const stars of [undefined, [5], [1, 3]]) {
        const counted = stored.filter(isMatch);
        const matching = counted.filter(({ score }) => !stars || stars.includes(score));
        for (const sort of stars ? storefrontSorts.slice(0, 3) : storefrontSorts) {
          const query = { ...filter, ...(stars && { stars }), sort, product_id: "teapot", per_page: 7 };
          const ids: number[] = [];
          for (let page = 1; page === 1 || ids.length < matching.length; page += 1) {
            const read = await shop.reviews({ ...query, page });
            expect({ query, page, matching: read.matching, pagination: read.pagination }).toEqual({
              query,
              page,
              matching: { total_reviews: matching.length, star_distribution: distributionOf(counted) },
              pagination: { page, per_page: 7, total: matching.length },
            });
            expect(read.rating).toMatchObject({ total_reviews: 34, star_distribution: distributionOf(stored) });
            if (read.reviews.length === 0) break;
            ids.push(...read.reviews.map(({ id }) => id));
          }
          expect({ query, ids }).toEqual({ query, ids: sortBy(sort, matching).map(({ id }) => id) });
        }
      }
    }
  });

  it("shows what a page needs of each review, and nothing else", async () => {
    const { shop, stored } = await ready();
    const ids = [stored[0]?.id ?? 0, stored[4]?.id ?? 0, stored[1]?.id ?? 0];
    const { product, reviews } = await shop.reviews({ product_id: "teapot", review_ids: ids });
    expect(product).toEqual({
      product_id: "teapot",
      name: "Teapot",
      url: "https://shop.example/teapot",
      image_url: null,
    });
    expect(reviews.map(({ id }) => id)).toEqual(ids);
    expect(reviews[0]).toEqual({
      id: ids[0],
      score: 1,
      title: "Review 0",
      content: "pot Größe drips, really.",
      created_at: "2026-01-01T00:00:00.000Z",
      display_name: "Ann S.",
      verified_buyer: true,
      anonymous: false,
      votes_up: 0,
      votes_down: 0,
      comment: null,
      photos: [
        {
          id: expect.any(Number) as number,
          width: null,
          height: null,
          color: null,
          sizes: { "1200": "https://cdn.example/0-0.jpg" },
        },
      ],
    });
    expect(reviews[1]).toMatchObject({ anonymous: true, verified_buyer: false });
    expect(reviews[2]?.comment).toEqual({ content: "Thank you.", created_at: "2026-01-01T00:00:00.000Z" });
  });

  it("lists the reviews of all products, with their products, and those of the shop", async () => {
    const { shop, stored } = await ready();
    const all = await shop.reviews({ per_page: 2 });
    expect(all).toMatchObject({ product: null, rating: { total_reviews: 35 }, pagination: { total: 35 } });
    expect(all.reviews[0]).toMatchObject({ title: "Other", product: { product_id: "cup", name: "Cup" } });
    expect(all.reviews[1]).toMatchObject({ title: "Review 33", product: { product_id: "teapot" } });
    const best = await shop.reviews({ sort: "highest", stars: [5, 4] });
    expect(best.reviews.map(({ score }) => score).slice(0, 8)).toEqual(Array.from({ length: 8 }, () => 5));
    expect((await shop.reviews({ search: "drips" })).pagination.total).toBe(5);
    const chosen = await shop.reviews({ review_ids: [stored[3]?.id ?? 0, 999_999_999, stored[2]?.id ?? 0] });
    expect(chosen.reviews.map(({ title }) => title)).toEqual(["Review 3", "Review 2"]);
    const site = await shop.reviews({ product_id: siteReviewsId });
    expect(site).toMatchObject({ product: null, rating: { total_reviews: 1 }, reviews: [{ title: "A good store" }] });
    expect(site.reviews[0]).not.toHaveProperty("product");
    await expect(shop.reviews({ sort: "most_helpful" })).rejects.toMatchObject(invalidField("sort", "product_id"));
  });

  it("shows the reviews of a group for each of its products", async () => {
    const { service, shop } = await ready();
    await service.groups.create({ group_name: "pots" });
    await service.groups.update({ group_name: "pots", product_ids_to_add: ["teapot", "cup"] });
    const { product, rating, reviews } = await shop.reviews({ product_id: "cup", search: "pours" });
    expect(product).toMatchObject({ product_id: "cup" });
    expect(rating.total_reviews).toBe(35);
    expect(reviews.map(({ title }) => title)).toEqual(["Other"]);
    expect(reviews[0]).not.toHaveProperty("product");
    const { reviews: found } = await shop.reviews({ product_id: "cup", search: "drips", sort: "newest" });
    expect(found).toHaveLength(5);
    expect(found[0]).toMatchObject({ title: "Review 28", product: { product_id: "teapot" } });
    const { ratings } = await shop.ratings({ product_ids: ["cup", "teapot"] });
    expect(ratings.map(({ total_reviews }) => total_reviews)).toEqual([35, 35]);
  });

  it("returns only what is published", async () => {
    const { service, shop, stored } = await ready();
    const id = stored[0]?.id ?? 0;
    await service.reviews.setPublished({ review_id: id, published: false, reason: "rude" });
    const first = await shop.reviews({ product_id: "teapot", per_page: 50 });
    expect(first.reviews.map((review) => review.id)).not.toContain(id);
    expect(first.rating.total_reviews).toBe(33);
    const queries: Query[] = [{ review_ids: [id] }, { product_id: "teapot", search: '"Review 0"' }];
    for (const query of queries) expect((await shop.reviews(query)).reviews).toEqual([]);
    expect((await shop.photos({ product_id: "teapot" })).photos.some(({ review }) => review.id === id)).toBe(false);
  });

  it("returns none of an unknown product", async () => {
    const { shop } = await ready();
    const stars = { 1: 0, 2: 0, 3: 0, 4: 0, 5: 0 };
    for (const product_id of ["pan", "'; drop table reviews --", "100%", "長"]) {
      for (const query of [{}, { search: "pot", verified: true, with_photos: true, stars: [5] }, { review_ids: [1] }]) {
        expect(await shop.reviews({ ...query, product_id })).toEqual({
          product: null,
          rating: { average_score: 0, total_reviews: 0, star_distribution: stars },
          matching: { total_reviews: 0, star_distribution: stars },
          pagination: { page: 1, per_page: 10, total: 0 },
          reviews: [],
        });
      }
      const empty = { pagination: { page: 1, per_page: 10, total: 0 } };
      expect(await shop.photos({ product_id })).toEqual({ ...empty, photos: [] });
      expect(await shop.questions({ product_id })).toEqual({ ...empty, total_answers: 0, questions: [] });
      expect(await shop.ratings({ product_ids: [product_id] })).toEqual({ ratings: [] });
    }
  });

  it("returns an empty page behind the last one, and at most 50 reviews", async () => {
    const { shop } = await ready();
    for (const page of [6, Number.MAX_SAFE_INTEGER]) {
      for (const query of [{}, { search: "pot" }]) {
        const read = await shop.reviews({ ...query, product_id: "teapot", page });
        expect(read).toMatchObject({ pagination: { page, total: 34 }, reviews: [] });
      }
      expect((await shop.photos({ product_id: "teapot", page })).photos).toEqual([]);
      expect((await shop.questions({ product_id: "teapot", page })).questions).toEqual([]);
    }
    const { pagination } = await shop.reviews({ product_id: "teapot", per_page: 51 });
    expect(pagination.per_page).toBe(storefrontPage.max);
  });

  it.each<[string, Record<string, unknown>]>([
    ["stars.0", { stars: [0] }],
    ["stars.0", { stars: [6] }],
    ["stars", { stars: "five" }],
    ["stars", { stars: [1, 2, 3, 4, 5, 5] }],
    ["sort", { sort: "created_at; drop table reviews" }],
    ["with_photos", { with_photos: "maybe" }],
    ["search", { search: "?!" }],
    ["search", { search: "x".repeat(201) }],
    ["page", { page: "x" }],
    ["per_page", { per_page: 1.5 }],
    ["review_ids", { review_ids: Array.from({ length: maxChosenReviews + 1 }, (_, at) => at) }],
    ["review_ids.0", { review_ids: ["1 or 1=1"] }],
  ])("rejects an invalid value of %s", async (field, query) => {
    const { caller } = await harness().newAccount();
    const { storefront } = harness().service({ appKey: caller.appKey });
    await expect(storefront.reviews(query as Query)).rejects.toMatchObject(invalidField(field));
  });

  it("searches for any text, and shows hostile texts as they are", async () => {
    const { service, caller } = await harness().newAccount();
    const shop = harness().service({ appKey: caller.appKey }).storefront;
    for (const [at, text] of hostileTexts.entries()) {
      const past = { created_at: "2026-01-01", reviewer_type: "verified_buyer" as const };
      await service.reviews.createNow(
        aReview({ review_title: text, review_content: text, email: `h${at}@mail.example`, past }),
      );
    }
    for (const text of hostileTexts.filter((one) => /[\p{L}\p{N}]/u.test(one))) {
      const { reviews } = await shop.reviews({ product_id: "teapot", search: text });
      expect({ text, found: reviews.some(({ content }) => content === text) }).toEqual({ text, found: true });
    }
    for (const search of ['"', '""pot', "pot*", "NEAR(a b)", "a:b", "pot AND", "-pot", ...unstorableTexts]) {
      const call = shop.reviews({ product_id: "teapot", search });
      await call.catch((error: unknown) => expect(error).toMatchObject({ kind: "invalidParams" }));
    }
  });
});

describeBackends("storefront.photos", (harness) => {
  it("lists the photos of published reviews, those of the latest review first", async () => {
    const account = await harness().newAccount();
    const stored = await storeSamples(account);
    const shop = harness().service({ appKey: account.caller.appKey }).storefront;
    const expected = sortBy("newest", stored.filter(hasPhotos)).flatMap(({ at, photos }) =>
      Array.from({ length: photos }, (_, n) => `https://cdn.example/${at}-${n}.jpg`),
    );
    const found: string[] = [];
    for (let page = 1; page <= Math.ceil(expected.length / 4); page += 1) {
      const { pagination, photos } = await shop.photos({ product_id: "teapot", page, per_page: 4 });
      expect(pagination).toEqual({ page, per_page: 4, total: expected.length });
      found.push(...photos.map(({ sizes }) => sizes["1200"]));
    }
    expect(found).toEqual(expected);
    const { photos } = await shop.photos({ product_id: "teapot" });
    expect(photos[0]?.review).toEqual({
      id: expect.any(Number) as number,
      score: 2,
      title: "Review 32",
      content: "pot Größe, really.",
      created_at: "2026-01-01T00:16:00.000Z",
      display_name: "Ann S.",
      verified_buyer: false,
    });
  });
});

describeBackends("storefront.photos", (harness) => {
  it("shows photos of visitors only once the store stands for them", async () => {
    const { service, caller } = await harness().newAccount();
    const visitor = harness().service({ appKey: caller.appKey });
    await service.products.massCreate({ products: { teapot: aProduct() } });
    const { image_upload_token } = await visitor.reviews.create(aReview());
    const image = (await takePhoto({ width: 1_600, height: 1_200 })).toString("base64");
    await visitor.images.upload({ image_upload_token, image });
    const read = async () => {
      const { reviews } = await visitor.storefront.reviews({ product_id: "teapot" });
      const { matching } = await visitor.storefront.reviews({ product_id: "teapot", with_photos: true });
      const { pagination, photos } = await visitor.storefront.photos({ product_id: "teapot" });
      const counts = [reviews[0]?.photos.length, matching.total_reviews, pagination.total, photos.length];
      return { review_id: reviews[0]?.id ?? 0, counts, photos };
    };
    const { review_id, counts } = await read();
    expect(counts).toEqual([0, 0, 0, 0]);
    await service.reviews.setPublished({ review_id, published: true, reason: "fine" });
    const shown = await read();
    expect(shown.counts).toEqual([1, 1, 1, 1]);
    const [photo] = shown.photos;
    expect(photo).toMatchObject({ width: 1_200, height: 900, color: expect.stringMatching(/^#[\da-f]{6}$/) });
    expect(Object.keys(photo?.sizes ?? {})).toEqual(["160", "480", "1200"]);
  });
});

describeBackends("storefront.questions", (harness) => {
  it("lists public questions with their public answers, newest first", async () => {
    const { service, caller } = await harness().newAccount("Tea & Co.");
    const shop = harness().service({ appKey: caller.appKey }).storefront;
    await service.questions.sendConfirmation(aQuestion());
    await service.links.follow({ token: await lastToken(harness(), "confirm_url") });
    await service.questions.sendConfirmation(aQuestion({ review_content: "Does it wait?", email: "b@mail.example" }));
    const { questions: listed } = await service.questions.list({ sku: "teapot" });
    const question_id = listed[0]?.id ?? 0;
    const shopper = { display_name: "Bob Brown", email: "bob@mail.example" };
    await service.answers.create({ question_id, content: "Mine does.", ...shopper });
    await service.answers.create({ question_id, content: "It does." });
    const { created_at } = listed[0] ?? { created_at: "" };
    const answer = { id: expect.any(Number) as number, created_at, votes_up: 0, votes_down: 0 };
    expect(await shop.questions({ product_id: "teapot" })).toEqual({
      pagination: { page: 1, per_page: 10, total: 1 },
      total_answers: 2,
      questions: [
        {
          id: question_id,
          content: "Does it pour well?",
          created_at,
          display_name: "Ann A.",
          answers: [
            { ...answer, content: "It does.", display_name: "Tea & Co.", is_shop: true },
            { ...answer, content: "Mine does.", display_name: "Bob B.", is_shop: false },
          ],
        },
      ],
    });
    expect((await shop.questions({ product_id: "teapot", page: 2, per_page: 1 })).questions).toEqual([]);
    await disableFeature(harness(), caller.appKey, "questions_and_answers");
    await service.account.set({ name: "Tea" });
    expect(await shop.questions({ product_id: "teapot" })).toMatchObject({ pagination: { total: 0 }, questions: [] });
    expect((await shop.settings({})).shop.features.questions).toBe(false);
  });
});

describeBackends("storefront", (harness) => {
  it("returns the ratings of known products, in the order of the call", async () => {
    const { service, caller } = await harness().newAccount();
    const shop = harness().service({ appKey: caller.appKey }).storefront;
    await service.products.massCreate({ products: { pan: aProduct(), cup: aProduct() } });
    for (const [sku, review_score] of [
      ["teapot", 5],
      ["teapot", 2],
      ["pan", 4],
      [siteReviewsId, 3],
    ] as const) {
      await service.reviews.createNow(aReview({ sku, review_score, email: `${sku}${review_score}@mail.example` }));
    }
    const product_ids = ["pan", "unknown", siteReviewsId, "teapot", "cup", "pan"];
    expect(await shop.ratings({ product_ids })).toEqual({
      ratings: [
        { product_id: "pan", average_score: 4, total_reviews: 1 },
        { product_id: siteReviewsId, average_score: 3, total_reviews: 1 },
        { product_id: "teapot", average_score: 3.5, total_reviews: 2 },
        { product_id: "cup", average_score: 0, total_reviews: 0 },
      ],
    });
    const many = Array.from({ length: maxRatedProducts }, (_, at) => `p${at}`);
    expect(await shop.ratings({ product_ids: many })).toEqual({ ratings: [] });
    await expect(shop.ratings({ product_ids: [...many, "pan"] })).rejects.toMatchObject(
      invalidField("product_ids", maxRatedProducts),
    );
    await expect(shop.ratings({} as InputOf<"storefront.ratings">)).rejects.toMatchObject({
      kind: "invalidParams",
      message: "Missing product_ids",
    });
  });

  it("returns the built-in design, and what the shop has set", async () => {
    const { service, caller } = await harness().newAccount("Tea & Co.");
    const shop = harness().service({ appKey: caller.appKey }).storefront;
    const { accent_color, accent_text_color, star_color, dark_accent_color } = defaultBrand;
    const { dark_accent_text_color, dark_star_color, radius } = defaultBrand;
    expect((await shop.settings({})).shop).toEqual({
      name: "Tea & Co.",
      url: expect.any(String) as string,
      language: "en",
      brand: {
        accent_color,
        accent_text_color,
        star_color,
        dark_accent_color,
        dark_accent_text_color,
        dark_star_color,
        radius,
        color_scheme: "auto",
      },
      consent_text: null,
      privacy_url: null,
      terms_url: null,
      messages: {},
      features: { photos: true, questions: true },
      limits: { photo_bytes: imageLimits.bytes, photos_per_review: imageLimits.perReview },
    });
    const set = { language: "de", consent_text: "Ich stimme zu.", privacy_url: "https://shop.example/p" } as const;
    await service.brand.set({ ...set, accent_color: "#7a1f5c", radius: 0 });
    expect((await shop.settings({})).shop).toMatchObject({ ...set, brand: { accent_color: "#7a1f5c", radius: 0 } });
    await service.messages.set({ language: "de", key: "shop.reviews.search", text: "Suchen" });
    await service.messages.set({ language: "en", key: "email.map.subject", text: "Your order from {store}" });
    expect((await shop.settings({})).shop.messages).toEqual({ de: { "shop.reviews.search": "Suchen" }, en: {} });
  });
});
