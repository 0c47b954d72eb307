import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { createLocalTransport } from "../../src/engine/local-transport.ts";
import { createService } from "../../src/service/service.ts";
import { describeBackends, type Harness, type TestAccount } from "../support/backends.ts";
import { aReview } from "../support/builders.ts";
import { invalidField } from "../support/service-errors.ts";

const hourMs = 60 * 60 * 1_000;

const lineOf = (domain_key: string, product_score: number, total_reviews: number) => ({
  domain_key,
  product_score,
  total_reviews,
});

async function review({ service }: TestAccount, sku: string, review_score: number): Promise<number> {
  const { reviews } = await service.reviews.createNow(aReview({ sku, review_score }));
  return reviews[0]?.id ?? 0;
}

const list = async ({ service }: Pick<TestAccount, "service">) => (await service.reviews.bottomLines({})).bottomlines;

/** The account as another process of the same database sees it. */
function openProcess(harness: Harness, { caller }: TestAccount, bottomLinesDelayMs?: number) {
  const { database, clock, sealer } = harness;
  const transport = createLocalTransport({
    database,
    clock,
    sealer,
    random: randomBytes,
    enforceLimits: false,
    bottomLinesDelayMs,
  });
  return { service: createService(transport, caller) };
}

describeBackends("the delay of bottom lines", (harness) => {
  it("is an hour by default, and a setting of the account that changes what is listed at once", async () => {
    const settings = { name: null, published_reviews: "all", anonymous_reviews_per_day: null };
    const account = await harness().newAccount();
    const other = await harness().newAccount();
    await review(account, "pot", 4);
    await review(other, "pot", 4);
    expect(await account.service.account.settings({})).toEqual({
      settings: { ...settings, bottom_lines_delay: 3_600 },
    });
    expect(await list(account)).toEqual([]);
    const changed = { settings: { ...settings, bottom_lines_delay: 0 } };
    expect(await account.service.account.set({ bottom_lines_delay: 0 })).toEqual(changed);
    expect(await list(account)).toEqual([lineOf("pot", 4, 1)]);
    expect(await list(other)).toEqual([]);
    await review(account, "pot", 2);
    expect(await list(account)).toEqual([lineOf("pot", 3, 2)]);
  });

  it("can be extended, which lists earlier totals again", async () => {
    const account = await harness().newAccount();
    const { service } = account;
    await service.account.set({ bottom_lines_delay: 0 });
    const id = await review(account, "pot", 5);
    harness().clock.advance(hourMs / 2);
    await review(account, "pot", 3);
    await service.reviews.setPublished({ review_id: id, published: false, reason: "rude" });
    expect(await list(account)).toEqual([lineOf("pot", 3, 1)]);
    await service.account.set({ bottom_lines_delay: 1_800 });
    expect(await list(account)).toEqual([lineOf("pot", 5, 1)]);
    await service.account.set({ bottom_lines_delay: 3_600 });
    expect(await list(account)).toEqual([]);
    harness().clock.advance(hourMs / 2);
    expect(await list(account)).toEqual([lineOf("pot", 5, 1)]);
    harness().clock.advance(hourMs / 2);
    expect(await list(account)).toEqual([lineOf("pot", 3, 1)]);
  });

  it("is at most a day", async () => {
    const { service } = await harness().newAccount();
    await service.account.set({ bottom_lines_delay: 86_400 });
    for (const bottom_lines_delay of [86_401, -1, 0.5]) {
      await expect(service.account.set({ bottom_lines_delay })).rejects.toMatchObject(
        invalidField("bottom_lines_delay"),
      );
    }
    expect(await service.account.settings({})).toMatchObject({ settings: { bottom_lines_delay: 86_400 } });
  });

  it("is the reader's, whatever the delay of the process that wrote", async () => {
    const account = await harness().newAccount();
    const prompt = openProcess(harness(), account, 0);
    await review(account, "pot", 5);
    expect(await list(account)).toEqual([]);
    expect(await list(prompt)).toEqual([lineOf("pot", 5, 1)]);
    expect(await list(account)).toEqual([]);
    await review({ ...account, ...prompt }, "pot", 1);
    expect(await list(openProcess(harness(), account))).toEqual([]);
    expect(await list(prompt)).toEqual([lineOf("pot", 3, 2)]);
    harness().clock.advance(hourMs);
    expect(await list(account)).toEqual([lineOf("pot", 3, 2)]);
  });

  it("applies to groups, so that no total combines reviews and products of different times", async () => {
    const account = await harness().newAccount();
    const { groups } = account.service;
    await review(account, "a", 5);
    await review(account, "b", 1);
    for (const group_name of ["G", "H"]) await groups.create({ group_name });
    await groups.update({ group_name: "G", product_ids_to_add: ["a"] });
    harness().clock.advance(hourMs);
    const before = [lineOf("a", 5, 1), lineOf("a", 5, 1), lineOf("b", 1, 1)];
    expect(await list(account)).toEqual(before);
    await groups.update({ group_name: "G", product_ids_to_add: ["b"] });
    expect(await list(account)).toEqual(before);
    harness().clock.advance(hourMs / 2);
    await groups.update({ group_name: "H", product_ids_to_add: ["a"] });
    expect(await list(account)).toEqual(before);
    harness().clock.advance(hourMs / 2);
    expect(await list(account)).toEqual([lineOf("a", 3, 2), lineOf("a", 5, 1), lineOf("b", 3, 2), lineOf("b", 1, 1)]);
    harness().clock.advance(hourMs / 2);
    expect(await list(account)).toEqual([lineOf("a", 5, 1), lineOf("a", 5, 1), lineOf("b", 1, 1), lineOf("b", 1, 1)]);
    await account.service.account.set({ bottom_lines_delay: 2.5 * 3_600 });
    expect(await list(account)).toEqual(before);
  });

  it("lists a product without reviews while its group has some", async () => {
    const account = await harness().newAccount();
    const { account: settings, groups, products, reviews } = account.service;
    await settings.set({ bottom_lines_delay: 0 });
    const url = "https://shop.example";
    await products.massCreate({ products: { a: { name: "A", url }, b: { name: "B", url } } });
    await groups.create({ group_name: "G" });
    await groups.update({ group_name: "G", product_ids_to_add: ["a", "b"] });
    expect(await list(account)).toEqual([]);
    const id = await review(account, "a", 4);
    const shared = [lineOf("a", 4, 1), lineOf("a", 4, 1), lineOf("b", 4, 1), lineOf("b", 0, 0)];
    expect(await list(account)).toEqual(shared);
    await reviews.setPublished({ review_id: id, published: false, reason: "rude" });
    expect(await list(account)).toEqual([]);
    await reviews.setPublished({ review_id: id, published: true, reason: "a mistake" });
    expect(await list(account)).toEqual(shared);
  });

  it("lists totals of one point in time while reviews and groups change", async () => {
    const account = await harness().newAccount();
    const { account: settings, groups } = account.service;
    await settings.set({ bottom_lines_delay: 0 });
    await groups.create({ group_name: "G" });
    for (const sku of ["a", "b"]) await review(account, sku, sku === "a" ? 5 : 1);
    await groups.update({ group_name: "G", product_ids_to_add: ["a"] });
    const change = async (step: number) => {
      await review(account, step % 2 === 0 ? "a" : "b", step % 2 === 0 ? 5 : 1);
      const field = step % 3 === 0 ? "product_ids_to_add" : "product_ids_to_remove";
      await groups.update({ group_name: "G", [field]: ["b"] });
    };
    const steps = Array.from({ length: 24 }, (_, step) => step);
    const [lists] = await Promise.all([Promise.all(steps.map(() => list(account))), Promise.all(steps.map(change))]);
    for (const lines of [...lists, await list(account)]) {
      const of = (key: string) => (lines ?? []).filter(({ domain_key }) => domain_key === key);
      const [[ofGroup, ownA], ofB] = [of("a"), of("b")];
      const [a, b] = [ownA?.total_reviews ?? 0, ofB.length === 2 ? (ofB[1]?.total_reviews ?? 0) : 0];
      expect(lines).toHaveLength(2 + ofB.length);
      expect(ofGroup).toEqual(lineOf("a", Math.round(((5 * a + b) / (a + b)) * 100) / 100, a + b));
    }
  });

  it("orders changes of processes whose clocks differ", async () => {
    const account = await harness().newAccount();
    const dayMs = 24 * hourMs;
    harness().clock.advance(dayMs);
    const id = await review(account, "pot", 5);
    harness().clock.advance(-dayMs);
    await review(account, "pot", 1);
    await account.service.reviews.setPublished({ review_id: id, published: false, reason: "rude" });
    harness().clock.advance(hourMs);
    expect(await list(account)).toEqual([lineOf("pot", 1, 1)]);
  });

  it("counts for since_date: a change belongs to the day on which it is first listed", async () => {
    const account = await harness().newAccount();
    const { bottomLines } = account.service.reviews;
    harness().clock.advance(11.5 * hourMs);
    await review(account, "pot", 5);
    harness().clock.advance(hourMs);
    const since = async (since_date: string) => (await bottomLines({ since_date })).bottomlines?.length;
    expect([await since("2026-03-16"), await since("2026-03-17")]).toEqual([1, 0]);
    await account.service.account.set({ bottom_lines_delay: 0 });
    expect([await since("2026-03-15"), await since("2026-03-16")]).toEqual([1, 0]);
  });

  it("keeps the changes of a day only", async () => {
    const account = await harness().newAccount();
    const countChanges = async () => {
      const { db } = harness().database;
      const id = await harness().newestAccountId();
      return (await db.selectFrom("bottom_line_changes").select("id").where("account_id", "=", id).execute()).length;
    };
    await review(account, "pot", 5);
    harness().clock.advance(25 * hourMs);
    await review(account, "pot", 1);
    await list(account);
    expect(await countChanges()).toBe(1);
    harness().clock.advance(hourMs);
    expect(await list(account)).toEqual([lineOf("pot", 3, 2)]);
  });
});
