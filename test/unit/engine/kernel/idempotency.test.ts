import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  findAccountsToPurge,
  hashCall,
  purgeIdempotentCalls,
  runOnce,
} from "../../../../src/engine/kernel/idempotency.ts";
import { endpointOf, idempotencyKeys } from "../../../../src/contract/index.ts";
import type { Service } from "../../../../src/service/service.ts";
import { backends, type Harness } from "../../../support/backends.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await (backends[0] ?? expect.unreachable()).open();
});
afterAll(() => harness.close());

test("results are deleted when they expire, and not before", async () => {
  const { service } = await harness.newAccount();
  const { clock, work } = harness;
  const upload = (key: string, code: string) =>
    service.coupons.upload({ coupon_action: "map_review", codes: [code] }, { idempotencyKey: key });
  const accountId = await harness.newestAccountId();
  const find = async () => (await work.read((context) => findAccountsToPurge(0, context))).found;
  const startMs = clock();
  await upload("first", "AB-1");
  clock.advance(60_000);
  await upload("second", "AB-2");
  clock.set(startMs + idempotencyKeys.lifetimeMs - 1);
  expect(await find()).toEqual([]);
  expect(await work.write(accountId, purgeIdempotentCalls)).toBe(0);
  clock.advance(1);
  expect(await find()).toEqual([accountId]);
  expect(await work.write(accountId, purgeIdempotentCalls)).toBe(1);
  expect(await find()).toEqual([]);
  expect(await work.write(accountId, purgeIdempotentCalls)).toBe(0);
});

const review = (n: number) => ({
  sku: `teapot-${n % 3}`,
  product_title: "Teapot",
  display_name: `Ann ${n}`,
  email: `ann-${n}@mail.example`,
  review_title: "Pours",
  review_content: `Well, ${n}`,
  review_score: 5,
  past: { created_at: "2020-01-31T00:00:00.000Z" },
});

describe("calls that are carried out together", () => {
  /** Sends reviews with keys at once; returns their results, and which were replays. */
  const send = async (service: Service, numbers: readonly number[]) => {
    const replays: boolean[] = [];
    const results = await Promise.all(
      numbers.map((n) =>
        service.reviews.createNow(review(n), {
          idempotencyKey: `review-${n}`,
          onEvent: (event) => event.type === "idempotency" && replays.push(event.isReplay),
        }),
      ),
    );
    return { results, replays };
  };
  const readStored = async () => {
    const { rows } = await sql<{ response: string; id: number }>`
      select id, response from idempotent_calls order by id`.execute(harness.database.db);
    return rows;
  };

  test("store their results once, and each call returns its own to repeats", async () => {
    await harness.database.db.deleteFrom("idempotent_calls").execute();
    const { service } = await harness.newAccount();
    const numbers = Array.from({ length: 20 }, (_, n) => n);
    const first = await send(service, numbers);
    expect(first.results.map(({ reviews }) => reviews[0]?.content)).toEqual(numbers.map((n) => `Well, ${n}`));
    const formats = (await readStored()).map(({ response }) => response.split(":")[0]);
    expect(formats).toHaveLength(20);
    // The first call may have been carried out before the others arrived.
    expect(formats.filter((format) => format === "list")).toHaveLength(1);
    expect(formats.filter((format) => format === "in").length).toBeGreaterThanOrEqual(18);
    harness.clock.advance(60_000);
    const again = await send(service, [...numbers, 20].toReversed());
    expect(again.results.slice(1)).toEqual(first.results.toReversed());
    expect(again.replays.filter((isReplay) => isReplay)).toHaveLength(20);
    expect(await send(service, [7])).toEqual({ results: [first.results[7]], replays: [true] });
    expect((await service.reviews.list({ count: 100 })).reviews).toHaveLength(21);
  });

  test("run again once the stored results have expired, even if only the first of them is deleted", async () => {
    await harness.database.db.deleteFrom("idempotent_calls").execute();
    const { service } = await harness.newAccount();
    await send(service, [0, 1, 2, 3]);
    const list = (await readStored()).find(({ response }) => response.startsWith("list:"));
    const newer = harness.clock() + 1;
    await harness.database.db
      .updateTable("idempotent_calls")
      .set({ created_at: newer })
      .where("id", "=", list?.id ?? 0)
      .execute();
    expect((await send(service, [3])).replays).toEqual([false]);
    await harness.database.db
      .deleteFrom("idempotent_calls")
      .where("id", "=", list?.id ?? 0)
      .execute();
    expect((await send(service, [2])).replays).toEqual([false]);
    expect((await send(service, [2, 3])).replays).toEqual([true, true]);
  });

  test("short results are stored with each call", async () => {
    const stored = await harness.work.write(undefined, async (context) => {
      const account = await context.transaction
        .selectFrom("accounts")
        .select(["id", "app_key"])
        .limit(1)
        .executeTakeFirstOrThrow();
      const endpoint = endpointOf("reviews.createNow");
      const calls = ["short-1", "short-2"].map((key) =>
        Object.assign(hashCall({ endpoint, key, input: {} }), { input: {} }),
      );
      const own = { ...context, account: { id: account.id, appKey: account.app_key } };
      const outputs = { short: "x".repeat(497), one: "y" };
      await runOnce(endpoint, calls, { runMany: async () => [outputs.short, outputs.one] }, own);
      const found = await context.transaction
        .selectFrom("idempotent_calls")
        .select("response")
        .orderBy("id", "desc")
        .limit(2)
        .execute();
      return found.map(({ response }) => response);
    });
    expect(stored).toEqual([`json:"y"`, `json:"${"x".repeat(497)}"`]);
  });
});
