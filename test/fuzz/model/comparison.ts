import { expect } from "vitest";
import { siteReviewsId } from "../../../src/contract/index.ts";
import { listProducts, listPurchases, listReviews, listUnsubscribers } from "../../../src/service/listings.ts";
import type { Service } from "../../../src/service/service.ts";
import type { ModelRun } from "./operations.ts";
import { productIds, references } from "./random-input.ts";
import { type ModelReview, shownReviews, totalsOf } from "./ratings-model.ts";
import { couponActions, type ShopModel } from "./shop-model.ts";

const iso = (ms: number) => new Date(ms).toISOString();

async function readAll<T>(pages: AsyncIterable<readonly T[]>): Promise<T[]> {
  const all: T[] = [];
  for await (const page of pages) all.push(...page);
  return all;
}

const sorted = (rows: readonly unknown[]) => rows.map((row) => JSON.stringify(row)).toSorted();

/** Compares everything that the service lists with the model. */
export async function compareAll(run: ModelRun): Promise<void> {
  await compareProducts(run);
  await comparePurchases(run);
  await compareReviews(run);
  for (const id of productIds) await compareRatings(run, id);
  await compareRatings(run, undefined);
  await compareHistory(run);
  await compareGroups(run);
  await compareShopLists(run);
  await compareBottomLines(run);
}

async function compareProducts({ service, model }: ModelRun): Promise<void> {
  const found = await readAll(listProducts(service, { details: true }));
  const rows = found.map((row) => [
    row.external_id,
    [row.name, row.url, row.description, row.price, row.product_tags, row.brand, row.blacklisted],
  ]);
  const expected = [...model.products].map(([id, row]) => [
    id,
    [row.name, row.url, row.description, row.price, row.product_tags, row.brand, row.blacklisted],
  ]);
  expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(expected));
  const byId = found.toSorted((one, other) => one.id - other.id).map(({ external_id }) => external_id);
  expect(byId).toEqual([...model.products.keys()]);
}

async function comparePurchases({ service, model }: ModelRun): Promise<void> {
  const found = await readAll(listPurchases(service, 0, {}, { details: true }));
  const rows = found.map((row) => [
    row.order_id,
    row.product_sku,
    row.product_price ?? null,
    row.created_at,
    [row.user_email, row.user_name, row.order_date, row.currency_iso ?? null, row.user_reference ?? null],
    [row.product_name, row.product_url, row.product_description],
  ]);
  const expected = model.units.map(({ orderId, productId, price, createdMs }) => {
    const order = model.orders.get(orderId);
    const product = model.products.get(productId);
    return [
      orderId,
      productId,
      price,
      iso(createdMs),
      [order?.email, order?.name, `${order?.date}T00:00:00.000Z`, order?.currency, order?.reference],
      [product?.name, product?.url, product?.description],
    ];
  });
  expect(sorted(rows)).toEqual(sorted(expected));
  const times = found.map(({ created_at }) => created_at);
  expect(times).toEqual(times.toSorted());
  const { total_purchases } = await service.orders.list({});
  expect(total_purchases).toBe(expected.length);
  const { missed_products, pagination } = await service.products.missed({ missed_products_ids: "all", size: 1_000 });
  expect(pagination.total).toBe(model.missed.size);
  // The spelling of an address is that of the order or of its repetition.
  expect(missed_products.map((row) => [row.order_id, row.product_sku, row.user_email.toLowerCase()])).toEqual(
    [...model.missed.values()].map(({ orderId, productId, email }) => [orderId, productId, email]),
  );
}

async function compareReviews({ service, model }: ModelRun): Promise<void> {
  const found = await readAll(listReviews(service));
  expect(
    found.map((row) => ({
      id: row.id,
      sku: row.sku,
      texts: [row.title, row.content, row.email, row.user_reference, row.comment ?? null],
      numbers: [row.score, row.votes_up, row.votes_down],
      created_at: row.created_at,
      published: [row.published, row.deleted],
    })),
  ).toEqual(
    model.reviews.map((review) => ({
      id: review.id,
      sku: review.productId ?? siteReviewsId,
      texts: [review.title, review.content, review.email, review.userReference, review.comment],
      numbers: [review.score, review.votesUp, review.votesDown],
      created_at: iso(review.createdMs),
      published: [review.published, !review.published],
    })),
  );
  const published = model.reviews.filter((review) => review.published);
  const { reviews: first } = await service.reviews.list({ count: 100 });
  expect(first.map(({ id }) => id)).toEqual(published.slice(0, 100).map(({ id }) => id));
  for (const reference of references) {
    const own = published.filter(({ userReference }) => userReference === reference);
    const listed = await service.reviews.listByUser({ user_reference: reference, count: 100 });
    expect([listed.total_reviews, listed.reviews.map(({ id }) => id)]).toEqual([
      own.length,
      own.slice(0, 100).map(({ id }) => id),
    ]);
  }
  const best = published.filter(({ score }) => score === 5);
  const { reviews: top } = await service.reviews.top({});
  expect(top.map(({ id }) => id)).toEqual(
    best
      .toSorted(latestFirst)
      .slice(0, 3)
      .map(({ id }) => id),
  );
}

const latestFirst = (one: ModelReview, other: ModelReview) => other.createdMs - one.createdMs || other.id - one.id;

const sorts = {
  date: ({ createdMs }: ModelReview) => createdMs,
  rating: ({ score }: ModelReview) => score,
  votes_up: ({ votesUp }: ModelReview) => votesUp,
  votes_down: ({ votesDown }: ModelReview) => votesDown,
} as const;

/** Compares the totals and reviews of a product, or of the store. */
async function compareRatings({ service, model, random }: ModelRun, id: string | undefined): Promise<void> {
  const shown =
    id === undefined
      ? model.reviews.filter(({ published, productId }) => published && productId === undefined)
      : shownReviews(id, model);
  const totals = totalsOf(shown);
  const { bottomline } = await service.reviews.bottomLine({ product_id: id ?? siteReviewsId });
  expect([id, bottomline]).toEqual([id, { average_score: totals.average, total_reviews: totals.total }]);
  const sort = random.pick(Object.keys(sorts) as (keyof typeof sorts)[]);
  const direction = random.pick(["ASC", "DESC"] as const);
  const sign = direction === "ASC" ? -1 : 1;
  const star = random.chance(0.3) ? 1 + random.below(5) : undefined;
  const matching = shown
    .filter(({ score }) => star === undefined || score === star)
    .toSorted((one, other) => sign * (sorts[sort](other) - sorts[sort](one) || latestFirst(one, other)));
  const per_page = random.pick([5, 20, 150]);
  const page = 1 + random.below(Math.ceil(matching.length / per_page) + 1);
  const query = { per_page, page, sort: [sort], direction, ...(star !== undefined && { star }) };
  const widget = await (id === undefined
    ? service.reviews.siteWidget(query)
    : service.reviews.widget({ ...query, product_id: id }));
  expect([id, widget.pagination]).toEqual([id, { page, per_page, total: matching.length }]);
  expect(widget.bottomline).toMatchObject({
    total_review: totals.total,
    average_score: totals.average,
    star_distribution: totals.stars,
  });
  const rows = matching.slice((page - 1) * per_page, page * per_page);
  expect([
    query,
    widget.reviews.map((row) => [row.id, row.score, row.votes_up, row.votes_down, row.comment?.content]),
  ]).toEqual([query, rows.map((row) => [row.id, row.score, row.votesUp, row.votesDown, row.comment ?? undefined])]);
  if (id === undefined || !model.products.has(id)) return;
  const group = model.inOrder(model.groupOf(id) ?? [id]).filter((member) => member !== id);
  expect(widget.products.map(({ domain_key }) => domain_key)).toEqual([id, ...group]);
  const idOf = new Map(widget.products.map((product) => [product.domain_key, product.id]));
  expect(widget.reviews.map(({ product_id }) => product_id)).toEqual(
    rows.map(({ productId }) => idOf.get(productId ?? "")),
  );
}

/** Compares the decisions on a few reviews. */
async function compareHistory({ service, model, random }: ModelRun): Promise<void> {
  for (const review of model.reviews.filter(({ decisions }) => decisions.length > 0 && random.chance(0.05))) {
    const { events } = await service.reviews.history({ review_id: review.id });
    const decisions = events.filter(({ event }) => event.endsWith("published"));
    expect(decisions.map(({ event, by, reason }) => ({ event, by, reason }))).toEqual(review.decisions);
  }
}

async function compareGroups({ service, model }: ModelRun): Promise<void> {
  const { products_groups } = await service.groups.list({});
  expect(products_groups.map(({ display_name }) => display_name)).toEqual([...model.groups.keys()]);
  for (const [group_name, members] of model.groups) {
    const { products_group } = await service.groups.get({ group_name });
    expect(products_group.products_apps.map(({ sku }) => sku)).toEqual(model.inOrder(members));
  }
}

async function compareShopLists({ service, model }: ModelRun): Promise<void> {
  const { coupons } = await service.coupons.list({ details: true });
  expect(coupons.map(({ code, coupon_action }) => [code, coupon_action])).toEqual(
    model.coupons.map(({ code, action }) => [code, action]),
  );
  const counts = couponActions.map((name) => [name, model.coupons.filter(({ action }) => action === name).length]);
  expect((await service.coupons.stats({})).stats).toEqual(Object.fromEntries(counts));
  const unsubscribers = await readAll(listUnsubscribers(service));
  expect(unsubscribers.map((row) => [row.email_type_id, row.user_email])).toEqual(
    model.unsubscribers.map(({ type, email }) => [type, email]),
  );
  const { products } = await service.products.promoted({});
  expect(products.map((row) => [row.domain_key, row.average_score, row.total_review, row.name, row.price])).toEqual(
    promotedOf(model),
  );
}

/** The store's choice, or else the best rated products that are not blacklisted, by their own reviews. */
function promotedOf(model: ShopModel) {
  const rated = [...model.products].map(([id, product]) => {
    const own = model.reviews.filter(({ published, productId }) => published && productId === id);
    const exact = own.reduce((sum, { score }) => sum + score, 0) / Math.max(own.length, 1);
    const { total, average } = totalsOf(own);
    return { id, product, exact, total, average };
  });
  const best = rated
    .filter(({ total, product }) => total > 0 && !product.blacklisted)
    .toSorted((one, other) => other.exact - one.exact || other.total - one.total)
    .slice(0, 10);
  const chosen = model.promoted.flatMap((name) => rated.filter(({ id }) => id === name));
  return (chosen.length > 0 ? chosen : best).map(({ id, product, average, total }) => [
    id,
    average,
    total,
    product.name,
    Number(product.price ?? 0),
  ]);
}

async function compareBottomLines({ service, model }: Pick<ModelRun, "model"> & { service: Service }): Promise<void> {
  expect(await service.reviews.bottomLines({ count: 100, page: 1 })).toEqual({
    bottomlines: model.delayedLines(),
    page: "1",
    per_page: "100",
  });
}
