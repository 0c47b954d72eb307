import { sql } from "kysely";
import { expect, it } from "vitest";
import { reviewHolds } from "../../src/contract/index.ts";
import { describeIsolated, type TestAccount } from "../support/backends.ts";
import { aReview } from "../support/builders.ts";
import { expectCombined, recordStatements } from "../support/statement-count.ts";

const numbers = Array.from({ length: 20 }, (_, at) => at);

const listAll = async ({ service }: TestAccount) =>
  (await service.reviews.list({ count: 200, deleted: true, details: true })).reviews;

/** The reviews that anyone sees, which the totals must equal. */
const readTotals = async ({ service }: TestAccount) => [
  (await service.reviews.bottomLine({ product_id: "teapot" })).bottomline.total_reviews,
  (await service.reviews.listByUser({})).total_reviews,
];

/** Where anyone can reach the service, floods are held. The limit itself is out of reach. */
const publicly = { publicLimits: { "submissions-per-client": { burst: 1_000_000, perHour: 1_000_000 } } };

describeIsolated(
  "simultaneous calls that create reviews",
  (harness) => {
    it("store each review with its own author, emails, and image token, with few statements", async () => {
      const account = await harness().newAccount();
      const fields = (at: number) => ({
        email: `jane${at}@mail.example`,
        review_title: `Title ${at}`,
        review_score: (at % 5) + 1,
      });
      let tokens: readonly string[] = [];
      const statements = await recordStatements(async () => {
        const created = await Promise.all(numbers.map((at) => account.service.reviews.create(aReview(fields(at)))));
        tokens = created.map(({ image_upload_token }) => image_upload_token);
      });
      expect(new Set(tokens).size).toBe(numbers.length);
      const reviews = await listAll(account);
      expect(reviews.map(({ title, email, score }) => `${title} ${email} ${score}`).toSorted()).toEqual(
        numbers.map((at) => `Title ${at} jane${at}@mail.example ${(at % 5) + 1}`).toSorted(),
      );
      expect(await readTotals(account)).toEqual([20, 20]);
      const { mails } = await account.service.emails.list({ count: 100 });
      const toAuthors = mails.filter(({ category }) => category === "anonymous_testimonials_request");
      expect(toAuthors.map(({ email }) => email).toSorted()).toEqual(
        numbers.map((at) => `jane${at}@mail.example`).toSorted(),
      );
      expect(mails.filter(({ category }) => category === "comment_request")).toHaveLength(20);
      const inserts = statements.filter((statement) => /insert into reviews/.test(statement));
      expectCombined(inserts.length, numbers.length);
      const [first] = reviews;
      expect((await account.service.reviews.history({ review_id: first?.id ?? 0 })).events).toMatchObject([
        { event: "created" },
      ]);
    });

    it("return each review to its own call, also past and new ones together", async () => {
      const account = await harness().newAccount();
      const isPast = (at: number) => at % 3 === 0;
      const past = { created_at: "2020-01-01T00:00:00Z", published: false };
      const results = await Promise.all(
        numbers.map((at) =>
          account.service.reviews.createNow(
            aReview({ sku: `p${at % 4}`, review_title: `Title ${at}`, ...(isPast(at) && { past }) }),
          ),
        ),
      );
      for (const [at, { reviews }] of results.entries()) {
        expect(reviews).toMatchObject([
          { title: `Title ${at}`, deleted: isPast(at), products_apps: [{ domain_key: `p${at % 4}` }] },
        ]);
      }
      expect(new Set(results.map(({ reviews }) => reviews[0]?.id)).size).toBe(numbers.length);
    });

    it("hold reviews beyond the daily limit and those with links, but publish the others", async () => {
      const account = await harness().newAccount();
      const shopper = harness().service({ appKey: account.caller.appKey });
      const calls = reviewHolds.maxAnonymousPerDay + 10;
      const content = (at: number) => (at === 3 ? "a.com b.com https://c.com" : `Good ${at}`);
      await Promise.all(
        Array.from({ length: calls }, (_, at) => shopper.reviews.createNow(aReview({ review_content: content(at) }))),
      );
      const states = (await listAll(account)).map(({ state }) => state);
      expect(states.filter((state) => state === "published")).toHaveLength(reviewHolds.maxAnonymousPerDay);
      expect(states.filter((state) => state === "held")).toHaveLength(10);
      expect((await readTotals(account))[0]).toBe(reviewHolds.maxAnonymousPerDay);
    });

    it("do not fail together with one of them", async () => {
      const account = await harness().newAccount();
      const { db } = harness().database;
      await sql`create unique index test_unique on reviews (account_id, title)`.execute(db);
      try {
        const title = (at: number) => (at === 4 || at === 9 ? "same" : `Title ${at}`);
        const results = await Promise.allSettled(
          numbers.map((at) => account.service.reviews.create(aReview({ review_title: title(at) }))),
        );
        const failed = results.flatMap(({ status }, at) => (status === "rejected" ? [at] : []));
        expect([[4], [9]]).toContainEqual(failed);
        expect(await listAll(account)).toHaveLength(numbers.length - 1);
        expect(await readTotals(account)).toEqual([19, 19]);
      } finally {
        await sql`drop index test_unique`.execute(db);
      }
    });
  },
  publicly,
);
