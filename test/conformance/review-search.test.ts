import { expect, it } from "vitest";
import type { ListedReview } from "../../src/contract/index.ts";
import type { InputOf } from "../../src/service/transport.ts";
import { describeBackends, type TestAccount } from "../support/backends.ts";
import { aReview } from "../support/builders.ts";
import { lastToken } from "../support/emails.ts";
import { tinyPng } from "../support/photos.ts";
import { findStaleWords } from "../support/search-index.ts";
import { invalidField } from "../support/service-errors.ts";

type Query = InputOf<"reviews.search">;

const day = (number: number) => `2026-01-${String(number).padStart(2, "0")}T00:00:00.000Z`;

const contents = [
  "The lid leaks a little",
  "Süßer Tee, très agréable",
  "Don't leak at all: the spout is GREAT",
  "leak-proof lid",
  "お茶が美味しい",
];

/** Creates reviews that differ in everything that a filter can ask for, in an order unlike that of their dates. */
async function createReviews({ service }: TestAccount): Promise<readonly ListedReview[]> {
  for (let at = 0; at < 24; at++) {
    await service.reviews.createNow({
      ...aReview({
        sku: ["teapot", "pan", "service_site_reviews"][at % 3],
        display_name: at % 4 === 0 ? "Zoë Lee" : "Ann",
        email: at % 4 === 0 ? "Zoe@mail.example" : "ann@mail.example",
        review_content: contents[at % 5],
        review_title: at % 7 === 0 ? "Leaky pot" : "Pot",
        review_score: 1 + (at % 5),
        user_reference: at % 6 === 0 ? "u" : undefined,
      }),
      past: {
        created_at: day(1 + ((at * 7) % 24)),
        published: at % 8 !== 1,
        ...(at % 3 === 0 && { comment: "Thank you" }),
        ...(at % 5 === 2 && { images: ["https://shop.example/1.jpg"] }),
        reviewer_type: at % 2 === 0 ? "verified_buyer" : "anonymous",
      },
    });
  }
  return (await service.reviews.list({ details: true, deleted: true, count: 100 })).reviews;
}

/** What each filter means, for one review. */
const meanings: { readonly [F in keyof Query]?: (value: never, review: ListedReview) => boolean } = {
  email: (value: string, { email }) => email.toLowerCase() === value.toLowerCase(),
  product_id: (value: string, { sku }) => sku === value,
  score: (value: string, { score }) => value.split(",").includes(String(score)),
  state: (value: string, { state = "" }) => value.split(",").includes(state),
  since_date: (value: string, { created_at }) => created_at >= value,
  until_date: (value: string, { created_at }) => created_at < value,
  with_images: (value: boolean, { images = [] }) => !value || images.length > 0,
  unanswered: (value: boolean, { comment }) => !value || comment === null,
  user_reference: (value: string, { user_reference }) => user_reference === value,
};

function isMatch(query: Query, review: ListedReview): boolean {
  if (query.state === undefined && query.deleted !== true && review.state !== "published") return false;
  return Object.entries(query).every(([field, value]) => {
    const meaning = meanings[field as keyof Query] as ((value: unknown, review: ListedReview) => boolean) | undefined;
    return meaning?.(value, review) ?? true;
  });
}

const filters: readonly Query[] = [
  {},
  { deleted: true },
  { email: "zoe@MAIL.example" },
  { email: "nobody@mail.example" },
  { product_id: "pan" },
  { product_id: "service_site_reviews" },
  { product_id: "unknown" },
  { score: "1" },
  { score: "2,5" },
  { state: "unpublished" },
  { state: "unpublished,held,pending" },
  { state: "published,unpublished" },
  { since_date: day(10) },
  { until_date: day(10) },
  { with_images: true },
  { unanswered: true },
  { user_reference: "u" },
];

describeBackends("searching reviews", (harness) => {
  const idsOf = (reviews: readonly ListedReview[]) => reviews.map(({ id }) => id);

  it("finds what matches each filter and each pair of filters, in order, page by page", async () => {
    const account = await harness().newAccount();
    const other = await harness().newAccount();
    const all = await createReviews(account);
    await other.service.reviews.createNow(aReview({ email: "ann@mail.example" }));
    const { search } = account.service.reviews;
    for (const [at, one] of filters.entries()) {
      for (const [second, another] of filters.slice(at).entries()) {
        // Half of the pairs, for speed.
        if (second > 0 && (at * 5 + second) % 2 === 0) continue;
        const sort = (at + second) % 3 === 0 ? "newest" : "oldest";
        const query = { ...one, ...another, sort } as const;
        const sorted = all
          .filter((review) => isMatch(query, review))
          .toSorted((a, b) => a.created_at.localeCompare(b.created_at) || a.id - b.id);
        const expected = idsOf(sort === "newest" ? sorted.toReversed() : sorted);
        const first = await search({ ...query, limit: 5 });
        expect({ query, ids: idsOf(first.reviews) }).toEqual({ query, ids: expected.slice(0, 5) });
        const { next_page_info } = first.pagination;
        expect(next_page_info === null).toBe(expected.length <= 5);
        if (next_page_info === null) continue;
        const rest = await search({ ...query, page_info: next_page_info, limit: 100 });
        expect({ query, ids: idsOf(rest.reviews) }).toEqual({ query, ids: expected.slice(5) });
        expect(rest.pagination.next_page_info).toBe(null);
      }
    }
  });

  it("finds words in titles, contents, and names", async () => {
    const account = await harness().newAccount();
    for (const [at, review_content] of contents.entries()) {
      const author = at === 2 ? { display_name: "Zoë Lee", email: "zoe@mail.example" } : {};
      await account.service.reviews.createNow(aReview({ review_content, ...author }));
    }
    const searches: readonly (readonly [search: string, found: readonly string[]])[] = [
      ["leaks", ["The lid leaks"]],
      ["LEAK", ["Don't leak", "leak-proof"]],
      ["leak lid", ["leak-proof"]],
      ['"leak lid"', []],
      ['"lid leaks"', ["The lid leaks"]],
      ['"the leaks', []],
      ["susser TEE tres", []],
      ["süsser", []],
      ["süßer tres", ["Süßer"]],
      ["don't", ["Don't"]],
      ["t don", ["Don't"]],
      ["美味", ["お茶"]],
      ["味美", []],
      ["zoe lee great", ["Don't leak"]],
      [`lid) OR * NEAR( "leaks" -`, []],
      ["lid & ! : 'leaks", ["The lid leaks"]],
    ];
    for (const [search, starts] of searches) {
      const { reviews } = await account.service.reviews.search({ search, sort: "oldest" });
      const found = reviews.map(({ content }) => starts.find((start) => content.startsWith(start)) ?? content);
      expect({ search, found }).toEqual({ search, found: starts });
    }
  });

  it("finds words together with filters, by ID, page by page", async () => {
    const account = await harness().newAccount();
    const all = await createReviews(account);
    const { search } = account.service.reviews;
    for (const filter of filters) {
      const expected = idsOf(all.filter((review) => isMatch(filter, review) && /\blid\b/i.test(review.content)));
      const newest = await search({ ...filter, search: "lid", limit: 2 });
      expect({ filter, ids: idsOf(newest.reviews) }).toEqual({ filter, ids: expected.toReversed().slice(0, 2) });
      const { next_page_info } = newest.pagination;
      if (next_page_info === null) continue;
      const rest = await search({ ...filter, search: "lid", page_info: next_page_info });
      expect({ filter, ids: idsOf(rest.reviews) }).toEqual({ filter, ids: expected.toReversed().slice(2) });
    }
  });

  it("finds a review under the name of its author after the address is verified", async () => {
    const account = await harness().newAccount();
    const found = async (search: string) => (await account.service.reviews.search({ search })).reviews.length;
    await account.service.reviews.createNow({
      ...aReview({ display_name: "Annabel" }),
      past: { created_at: day(1), reviewer_type: "verified_buyer" },
    });
    await harness()
      .service({ appKey: account.caller.appKey })
      .reviews.create(aReview({ display_name: "Nick" }));
    expect([await found("annabel"), await found("nick")]).toEqual([1, 1]);
    await account.service.links.follow({ token: await lastToken(harness(), "verify_url") });
    expect([await found("annabel"), await found("nick")]).toEqual([2, 0]);
    const byAddress = await account.service.reviews.search({ email: "ANN@mail.example" });
    expect(byAddress.reviews).toHaveLength(2);
  });

  it("finds words together with filters after what they ask for has changed", async () => {
    const account = await harness().newAccount();
    const { service } = account;
    const { image_upload_token } = await harness().service({ appKey: account.caller.appKey }).reviews.create(aReview());
    const states = ["published", "unpublished", "pending", "held"];
    const changing: Readonly<Record<string, Query>> = {
      unanswered: { unanswered: true },
      with_images: { with_images: true },
      ...Object.fromEntries(states.map((state) => [state, { state }])),
    };
    const listMatches = async () => {
      const matching: string[] = [];
      for (const [name, filter] of Object.entries(changing)) {
        const query = { state: states.join(","), ...filter, search: "pours" };
        if ((await service.reviews.search(query)).reviews.length > 0) matching.push(name);
      }
      expect((await findStaleWords(harness().database)).stale).toEqual([]);
      return matching;
    };
    const review_id = (await service.reviews.search({})).reviews[0]?.id ?? 0;
    expect(await listMatches()).toEqual(["unanswered", "published"]);
    await service.account.set({ published_reviews: "moderated" });
    expect(await listMatches()).toEqual(["unanswered", "pending"]);
    await service.account.set({ published_reviews: "all" });
    expect(await listMatches()).toEqual(["unanswered", "published"]);
    await service.reviews.comment({ review_id, content: "Thank you" });
    expect(await listMatches()).toEqual(["published"]);
    await service.reviews.deleteComment({ review_id });
    expect(await listMatches()).toEqual(["unanswered", "published"]);
    await service.images.upload({ image_upload_token, image: tinyPng });
    expect(await listMatches()).toEqual(["unanswered", "with_images", "published"]);
    await service.reviews.setPublished({ review_id, published: false, reason: "spam" });
    expect(await listMatches()).toEqual(["unanswered", "with_images", "unpublished"]);
    await service.reviews.requeue({ review_id });
    expect(await listMatches()).toEqual(["unanswered", "with_images", "held"]);
  });

  it("rejects invalid filters", async () => {
    const { service } = await harness().newAccount();
    const invalid: readonly (readonly [Query, string])[] = [
      [{ score: "0" }, "score"],
      [{ state: "lost" }, "state"],
      [{ search: "..." }, "search"],
      [{ search: "a".repeat(201) }, "search"],
      [{ email: "ann" }, "email"],
      [{ sort: "best" as "newest" }, "sort"],
      [{ since_date: "7d" }, "since_date"],
      [{ page_info: "x" }, "page_info"],
    ];
    for (const [query, field] of invalid)
      await expect(service.reviews.search(query)).rejects.toMatchObject(invalidField(field));
  });
});
