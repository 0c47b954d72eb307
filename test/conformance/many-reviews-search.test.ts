import { sql, type Transaction } from "kysely";
import { expect, it } from "vitest";
import type { Caller, InputOf } from "../../src/service/transport.ts";
import { reindexReviews } from "../../src/engine/reviews/review-index.ts";
import { batchRows } from "../../src/storage/batch.ts";
import type { Tables } from "../../src/storage/tables.ts";
import { describeEngine, type Harness } from "../support/backends.ts";
import { aReview } from "../support/builders.ts";

const startMs = Date.UTC(2026, 0, 1);
const count = 3_000;

/** Groups of 512 IDs have a tag. The first range of a search in ascending order ends before the third group. */
const idOf = (at: number) => 3 * 512 + at;

/** Reviews by number. Words and filters are frequent, rare, or both. Only the ends of groups of IDs have the word `edge`. */
const reviews = Array.from({ length: count }, (_, at) => ({
  at,
  words: [
    "all",
    ...[2, 50, 997].filter((every) => at % every === 0).map((every) => `every${every}`),
    ...([0, 511].includes(idOf(at) % 512) ? ["edge"] : []),
  ],
  score: 1 + (at % 5),
  isHeld: at % 30 === 7,
  isAnswered: at % 3 > 0,
  hasImages: at < 40,
  createdMs: startMs + ((at * 7) % count) * 60_000,
}));

type Review = (typeof reviews)[number];

const daysSince = (createdMs: number) => new Date(startMs + createdMs * 60_000).toISOString();

const filters: readonly (readonly [InputOf<"reviews.search">, (review: Review) => boolean])[] = [
  [{}, ({ isHeld }) => !isHeld],
  [{ score: "1,2" }, ({ isHeld, score }) => !isHeld && score <= 2],
  [{ state: "held" }, ({ isHeld }) => isHeld],
  [{ unanswered: true }, ({ isHeld, isAnswered }) => !isHeld && !isAnswered],
  [{ state: "held,published", score: "1" }, ({ score }) => score === 1],
  [{ with_images: true }, ({ isHeld, hasImages }) => !isHeld && hasImages],
  [{ since_date: daysSince(2_900) }, ({ isHeld, createdMs }) => !isHeld && createdMs >= startMs + 2_900 * 60_000],
  [{ until_date: daysSince(100) }, ({ isHeld, createdMs }) => !isHeld && createdMs < startMs + 100 * 60_000],
];

/** Stores the reviews with one statement, as copies of the account's only one. */
async function storeReviews({ db, dialect }: Harness["database"], { appKey }: Caller): Promise<void> {
  const found = await sql<{ id: number; account_id: number }>`select id, account_id from reviews
    where account_id = (select id from accounts where app_key = ${appKey})`.execute(db);
  const [{ id: firstId, account_id: accountId } = { id: 0, account_id: 0 }] = found.rows;
  const rows = reviews.map(({ at, words, score, isHeld, isAnswered, hasImages, createdMs }) => [
    idOf(at),
    score,
    isHeld ? 0 : 1,
    isHeld ? "held" : null,
    hasImages ? 1 : 0,
    createdMs,
    words.join(" "),
    isAnswered ? "Thanks" : null,
  ]);
  const columns = {
    id: "integer",
    score: "integer",
    published: "integer",
    moderation: "text",
    images: "integer",
    created_at: "integer",
    content: "text",
    comment: "text",
  } as const;
  await sql`insert into reviews (id, account_id, product_row, user_row, rating_target, title, content, reviewer_type, votes_up,
      votes_down, updated_at, score, published, moderation, images, created_at, comment)
    select batch.id, reviews.account_id, product_row, user_row, rating_target, 'T', batch.content, reviewer_type, 0, 0, batch.created_at,
      batch.score, batch.published, batch.moderation, batch.images, batch.created_at, batch.comment
    from ${batchRows(columns, rows, dialect)} cross join reviews
    where reviews.account_id = ${accountId} and reviews.id = ${firstId}`.execute(db);
  await reindexReviews({ ids: reviews.map(({ at }) => idOf(at)) }, accountId, {
    transaction: db as Transaction<Tables>,
    dialect,
  });
}

describeEngine("searching many reviews", (harness) => {
  it("finds frequent and rare words together with each filter", async () => {
    const { service, caller } = await harness().newAccount();
    await service.reviews.createNow(aReview());
    await storeReviews(harness().database, caller);
    for (const [filter, isMatch] of filters) {
      for (const search of ["all", "every2", "every50", "every997", "every2 every50", "edge", "none"]) {
        const matches = reviews.filter(
          (review) => isMatch(review) && search.split(" ").every((word) => review.words.includes(word)),
        );
        const ids = matches.map(({ at }) => idOf(at));
        for (const sort of ["newest", "oldest"] as const) {
          const sorted = sort === "newest" ? ids.toReversed() : ids;
          const first = await service.reviews.search({ ...filter, search, sort, limit: 15 });
          expect({ filter, search, ids: first.reviews.map(({ id }) => id) }).toEqual({
            filter,
            search,
            ids: sorted.slice(0, 15),
          });
        }
      }
    }
  });
});
