import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { type Kysely, sql } from "kysely";
import { expect, it, onTestFinished } from "vitest";
import type { OperationName, ServiceError } from "../../../../src/contract/index.ts";
import { openDatabase } from "../../../../src/storage/database.ts";
import { type Harness, openEngine } from "../../../support/backends.ts";
import { aReview } from "../../../support/builders.ts";
import { aQuestion, lastToken } from "../../../support/emails.ts";
import { callEveryOperation } from "../../../support/every-call.ts";
import { describePlaces, makeVersion } from "../../../support/old-databases.ts";
import { countLargeShop, insertLargeShop, insertOldShop, largeShop, oldShop } from "../../../support/old-shop.ts";
import { tinyPng } from "../../../support/photos.ts";
import { findStaleWords } from "../../../support/search-index.ts";
import { chooseSize, isSlowSuite } from "../../../support/suite-size.ts";

/** Rows that are written by opening a database or by any call. */
const written = new Set(["starpost_migrations"]);

/** The columns of each table that it had before. */
type Columns = ReadonlyMap<string, readonly string[]>;

async function readColumns(db: Kysely<never>): Promise<Columns> {
  const tables = await db.introspection.getTables();
  return new Map(
    tables
      .filter(({ name }) => !written.has(name))
      .map(({ name, columns }) => [name, columns.map((column) => column.name).toSorted()]),
  );
}

/** The number of rows of each table, and a digest of them. */
async function digest(db: Kysely<never>, columns: Columns): Promise<Record<string, string>> {
  const digests: Record<string, string> = {};
  for (const [table, names] of columns) {
    const selected = sql.join(names.map((name) => sql.ref(name)));
    const order = names.includes("id") ? sql`id` : selected;
    const { rows } = await sql`select ${selected} from ${sql.table(table)} order by ${order}`.execute(db);
    const hash = createHash("sha256");
    for (const row of rows) hash.update(JSON.stringify(Object.values(row as object).map(String)));
    digests[table] = `${rows.length} rows ${hash.digest("base64")}`;
  }
  return digests;
}

async function readMaxIds(db: Kysely<never>, columns: Columns): Promise<Record<string, number>> {
  const ids: Record<string, number> = {};
  for (const [table, names] of columns) {
    if (!names.includes("id")) continue;
    const { rows } = await sql<{ id: number | null }>`select max(id) as id from ${sql.table(table)}`.execute(db);
    ids[table] = rows[0]?.id ?? 0;
  }
  return ids;
}

/** Fields that the answers have had only since; the values follow from the recorded rows. */
const addedFields: Partial<Record<OperationName, (answer: never) => object>> = {
  "webhooks.list": ({ webhooks }: { webhooks: readonly { readonly created_at: string }[] }) => ({
    // The only attempt for each one failed within the day, and deliveries from when it was created are still queued.
    webhooks: webhooks.map((webhook) => ({
      ...webhook,
      last_success_at: null,
      failures_24h: 1,
      next_attempt_at: webhook.created_at,
    })),
  }),
};

/** Repeats the recorded calls and returns those with another answer. */
async function findChangedAnswers({ transport }: Harness): Promise<unknown[]> {
  const changed: unknown[] = [];
  for (const [account, name, input, recorded] of oldShop.answers) {
    const answer = addedFields[name]?.(recorded as never) ?? recorded;
    const output = await transport
      .call(name, input, oldShop.accounts[account] ?? {})
      .catch(({ kind, message, field, record, position, hint }: ServiceError) => ({
        kind,
        message,
        field,
        record,
        position,
        hint,
      }));
    const now: unknown = JSON.parse(JSON.stringify(output));
    if (!isDeepStrictEqual(now, answer)) changed.push({ name, input, answer, now });
  }
  return changed;
}

/** What the operations respond about the large shop; the expected values follow from how it is filled. */
async function checkLargeShop({ service }: Harness, orders: number): Promise<void> {
  const { products, reviews } = countLargeShop(orders);
  const shop = service(largeShop);
  const last = await shop.orders.list({ count: 1, page: 2 * orders });
  expect(last).toMatchObject({ total_purchases: 2 * orders });
  expect(last.purchases).toMatchObject([{ id: 10_000 + 2 * orders, order_id: `large-${orders}` }]);
  expect(await shop.reviews.bottomLine({ product_id: "p1" })).toEqual({
    bottomline: { average_score: 3, total_reviews: reviews / products },
  });
}

/** Creates records in every table with IDs, except in those that only the operator and callers with keys use. */
async function createRecords(harness: Harness): Promise<void> {
  const account = await harness.newAccount();
  await callEveryOperation(harness, account);
  // These were deleted again.
  const { answers, coupons, groups, images, links, questions, reviews, webhooks } = account.service;
  await coupons.upload({ coupon_action: "map_review", codes: ["AAAA"] });
  await groups.create({ group_name: "pots" });
  await webhooks.create({ url: "https://shop.example/", event_name: "review_create" });
  const { image_upload_token } = await reviews.create(aReview({ email: "zoe@mail.example" }));
  await images.upload({ image_upload_token, image: tinyPng });
  await questions.sendConfirmation(aQuestion({ email: "zoe@mail.example" }));
  await links.follow({ token: await lastToken(harness, "confirm_url") });
  const [question] = (await questions.list({ sku: "teapot" })).questions;
  await answers.create({ question_id: question?.id ?? 0, content: "Yes" });
}

describePlaces("a database from before accounts were part of all keys", (place) => {
  const orders = chooseSize(200, 100_000);

  it(`keeps all rows, IDs, and answers, with ${orders} orders`, async () => {
    const url = await place();
    let columns: Columns = new Map();
    let before: Record<string, string> = {};
    await makeVersion(15, url, async (db) => {
      await insertOldShop(db);
      await insertLargeShop(db, orders);
      columns = await readColumns(db);
      before = await digest(db, columns);
    });
    const startedMs = performance.now();
    const { db } = await openDatabase(url, { nowMs: oldShop.nowMs });
    const tookMs = performance.now() - startedMs;
    if (isSlowSuite) console.log(`${url.split(":")[0]}: upgrading ${orders} orders took ${tookMs.toFixed(0)} ms`);
    expect(await digest(db as never, columns)).toEqual(before);
    const oldIds = await readMaxIds(db as never, columns);
    await db.destroy();

    const harness = await openEngine(
      async () => ({ url, remove: async () => {} }),
      Buffer.from(oldShop.sealingKey, "base64"),
    );
    onTestFinished(harness.close);
    harness.clock.set(oldShop.nowMs);
    const { checked, stale } = await findStaleWords(harness.database);
    expect(stale).toEqual([]);
    expect(checked).toBeGreaterThan(20);
    expect(await findChangedAnswers(harness)).toEqual([]);
    await checkLargeShop(harness, orders);
    await createRecords(harness);
    const newIds = await readMaxIds(harness.database.db as never, columns);
    const unused = Object.keys(oldIds).filter((table) => (newIds[table] ?? 0) <= (oldIds[table] ?? 0));
    expect(unused).toEqual(["idempotent_calls", "invitations"]);
  });
});
