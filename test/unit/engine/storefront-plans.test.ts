import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { storefrontSorts } from "../../../src/contract/index.ts";
import type { InputOf } from "../../../src/service/transport.ts";
import { SqliteFile } from "../../../src/storage/sqlite/sqlite-file.ts";
import { engines, type Harness, type TestAccount } from "../../support/backends.ts";
import { aReview } from "../../support/builders.ts";

let harness: Harness;
let account: TestAccount;
beforeAll(async () => {
  const sqlite = engines.find(({ name }) => name === "local-sqlite");
  if (!sqlite) throw new Error("there is no SQLite backend");
  harness = await sqlite.open();
  account = await harness.newAccount();
  for (const at of [1, 2, 3]) {
    const past = {
      created_at: "2026-01-01",
      reviewer_type: "verified_buyer" as const,
      images: ["https://a.example/1"],
    };
    await account.service.reviews.createNow(aReview({ email: `ann${at}@mail.example`, past }));
  }
});
afterAll(() => harness.close());

/** How SQLite reads reviews to count and select those of a page. */
async function explain(run: () => Promise<unknown>): Promise<readonly string[]> {
  const ran = vi.spyOn(SqliteFile.prototype, "all");
  await run();
  const statements = ran.mock.calls.map(([text, parameters = []]) => ({ text, parameters }));
  vi.restoreAllMocks();
  const file = new SqliteFile(harness.database.shownAs);
  const steps = statements
    .filter(({ text }) => /^\s*select (?:reviews\.id from reviews|count|sum|review_images)/.test(text))
    .flatMap(({ text, parameters }) => file.all(`explain query plan ${text}`, parameters))
    .map(({ detail }) => String(detail));
  file.close();
  return steps;
}

type Query = InputOf<"storefront.reviews">;

it.each<[string, Query, readonly RegExp[]]>([
  ["verified", { verified: true }, [/COVERING INDEX reviews_by_reviewer_type/, /INDEX reviews_by_reviewer_type/]],
  ["with photos", { with_photos: true }, [/INDEX reviews_with_photos/, /INDEX reviews_with_photos/]],
  ["of five stars", { stars: [5] }, [/COVERING INDEX reviews_by_score/]],
  ...storefrontSorts.map((sort): [string, Query, readonly RegExp[]] => [
    sort,
    { sort },
    [/COVERING INDEX reviews_by_/],
  ]),
])("counts and lists the reviews of a product by an index: %s", async (_name, query, expected) => {
  const steps = await explain(() => account.service.storefront.reviews({ product_id: "teapot", ...query }));
  expect(steps).toEqual(expected.map((step) => expect.stringMatching(step) as string));
});

it("counts and lists the photos of a product by an index", async () => {
  const steps = await explain(() => account.service.storefront.photos({ product_id: "teapot" }));
  expect(steps.filter((step) => step.includes(" reviews "))).toEqual([
    expect.stringMatching(/INDEX reviews_with_photos/),
    expect.stringMatching(/INDEX reviews_with_photos/),
  ]);
  expect(steps.join()).not.toMatch(/SCAN|TEMP B-TREE(?! FOR (?:RIGHT PART|LAST TERM))/);
});
