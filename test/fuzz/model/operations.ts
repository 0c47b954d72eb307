import { expect } from "vitest";
import { ServiceError, siteReviewsId } from "../../../src/contract/index.ts";
import type { Service } from "../../../src/service/service.ts";
import type { TestClock } from "../../support/backends.ts";
import type { Random } from "../random.ts";
import {
  anAddress,
  anOrder,
  groupNames,
  nameAndUrl,
  pickSome,
  productIds,
  references,
  respell,
  someFields,
  toWireProduct,
} from "./random-input.ts";
import type { ModelReview } from "./ratings-model.ts";
import { couponActions, type NewOrder, type ShopModel } from "./shop-model.ts";

export interface ModelRun {
  readonly service: Service;
  readonly model: ShopModel;
  readonly random: Random;
  readonly clock: TestClock;
}

/** Applies one operation to the service and to the model, and compares their responses. */
export type Operation = (run: ModelRun) => Promise<void>;

/** The kind of refusal, or undefined if the call succeeds. */
async function refusalOf(call: Promise<unknown>): Promise<string | undefined> {
  try {
    await call;
    return undefined;
  } catch (error) {
    if (error instanceof ServiceError) return error.kind;
    throw error;
  }
}

const createProducts: Operation = async ({ service, model, random }) => {
  const products = pickSome(productIds, random, 4).map((id) => [id, { ...nameAndUrl(random), ...someFields(random) }]);
  const sent = products.map(([id, fields]) => [id, toWireProduct(fields as object)]);
  expect((await service.products.massCreate({ products: Object.fromEntries(sent) })).errors).toBeUndefined();
  for (const [id, fields] of products) model.saveProduct(id as string, fields as object);
};

const updateProducts: Operation = async ({ service, model, random }) => {
  const products = pickSome(productIds, random, 4).map((id) => {
    const fields = { ...someFields(random), ...(random.chance(0.3) && { name: `Renamed ${random.below(100)}` }) };
    return [id, random.chance(0.1) ? { ...fields, description: "" } : fields] as const;
  });
  const sent = products.map(([id, fields]) => [id, toWireProduct(fields)]);
  const { errors = {} } = await service.products.massUpdate({ products: Object.fromEntries(sent) });
  const unknown = products.flatMap(([id, fields]) => (model.updateProduct(id, fields) ? [] : [id]));
  expect(Object.values(errors).map(({ product_id }) => product_id)).toEqual(unknown);
};

function withoutQuantities(order: NewOrder): NewOrder {
  const items = Object.entries(order.products).map(([id, { quantity: _quantity, unit_prices: _prices, ...item }]) => [
    id,
    item,
  ]);
  return { ...order, products: Object.fromEntries(items) as NewOrder["products"] };
}

const createOrders: Operation = async ({ service, model, random }) => {
  const drawn = Array.from({ length: 1 + random.below(4) }, () => anOrder(random));
  // Whether a unit that one call removes and adds again is the same unit is undefined.
  const orders = drawn.map((order, at) =>
    drawn.findIndex(({ order_id }) => order_id === order.order_id) === at ? order : withoutQuantities(order),
  );
  await service.orders.massCreate({ platform: "general", orders: orders.map((order) => ({ ...order })) });
  for (const order of orders) model.saveOrder(order);
};

const createOrder: Operation = async ({ service, model, random }) => {
  const order = anOrder(random);
  const { errors = [] } = await service.orders.create({ ...order, platform: "general", validate_data: false });
  expect(errors).toEqual([]);
  model.saveOrder(order);
};

/** The other products have few reviews, so that their totals often become zero. */
const popularIds = productIds.slice(0, 4);

const createReview: Operation = async ({ service, model, random, clock }) => {
  const productId = random.chance(0.15) ? undefined : random.pick(random.chance(0.7) ? popularIds : productIds);
  const product = nameAndUrl(random);
  const number = model.reviews.length;
  const isPast = random.chance(0.3);
  const past = {
    created_at: new Date(clock() - random.below(100) * 60_000).toISOString(),
    published: random.chance(0.7),
    ...(random.chance(0.3) && { comment: `A past comment ${number}` }),
  };
  const input = {
    score: 1 + random.below(5),
    title: `Title ${number}`,
    content: `Content ${number}`,
    email: anAddress(random),
    userReference: random.chance(0.4) ? random.pick(references) : null,
  };
  const { reviews } = await service.reviews.createNow({
    sku: productId ?? siteReviewsId,
    product_title: product.name,
    product_url: product.url,
    display_name: "Ann Lee",
    email: input.email,
    review_content: input.content,
    review_title: input.title,
    review_score: input.score,
    ...(input.userReference !== null && { user_reference: input.userReference }),
    ...(isPast && { past }),
  });
  expect(reviews.map(({ score, deleted }) => [score, deleted])).toEqual([[input.score, isPast && !past.published]]);
  const review = {
    ...input,
    id: reviews[0]?.id ?? 0,
    productId,
    createdMs: isPast ? Date.parse(past.created_at) : clock(),
    published: !isPast || past.published,
    votesUp: 0,
    votesDown: 0,
    comment: (isPast && past.comment) || null,
    decisions: [],
  };
  expect(review.id).toBeGreaterThan(model.reviews.at(-1)?.id ?? 0);
  model.addReview(review, product);
};

const withReview =
  (change: (review: ModelReview, run: ModelRun) => Promise<void>): Operation =>
  async (run) => {
    if (run.model.reviews.length > 0) await change(run.random.pick(run.model.reviews), run);
  };

const vote = withReview(async (review, { service, random }) => {
  const vote_type = random.pick(["up", "down"] as const);
  const refusal = await refusalOf(service.reviews.vote({ review_id: review.id, vote_type }));
  expect(refusal).toBe(review.published ? undefined : "recordNotFound");
  if (!review.published) return;
  if (vote_type === "up") review.votesUp += 1;
  else review.votesDown += 1;
});

const setPublished = withReview((review, run) => publish(review, run.random.chance(0.5), run));

/** Hides all reviews of a product or the store that has few. */
const hideFew = withReview(async ({ productId }, run) => {
  const few = run.model.reviews.filter((review) => review.published && review.productId === productId);
  if (few.length > 8) return;
  for (const review of few) await publish(review, false, run);
});

async function publish(review: ModelReview, published: boolean, { service, model, random }: ModelRun): Promise<void> {
  const by = random.pick(["MODERATOR", "Eve"]);
  const reason = `Reason ${random.below(1_000_000)}`;
  const named = by === "MODERATOR" ? {} : { by };
  const { review: listed } = await service.reviews.setPublished({ review_id: review.id, published, reason, ...named });
  expect(listed.deleted).toBe(!published);
  model.setPublished(review, published, { by, reason });
}

const comment = withReview(async (review, { service, random }) => {
  review.comment = `Comment ${random.below(20)}`;
  const { comment: stored } = await service.reviews.comment({ review_id: review.id, content: review.comment });
  expect(stored.content).toBe(review.comment);
});

const createGroup: Operation = async ({ service, model, random }) => {
  const name = random.pick(groupNames);
  const refusal = await refusalOf(service.groups.create({ group_name: respell(name, random) }));
  expect(refusal).toBe(model.groups.has(name) ? "invalidParams" : undefined);
  if (refusal === undefined) model.groups.set(name, new Set());
};

const updateGroup: Operation = async ({ service, model, random }) => {
  const name = random.pick(groupNames);
  const add = random.chance(0.7) ? pickSome(productIds, random, 3) : [];
  const remove = pickSome(productIds, random, 4).filter((id) => !add.includes(id));
  const refusal = await refusalOf(
    service.groups.update({
      group_name: respell(name, random),
      product_ids_to_add: add,
      product_ids_to_remove: remove,
    }),
  );
  const members = model.groups.get(name);
  const isKnown = add.every((id) => model.products.has(id));
  expect(refusal).toBe(members ? (isKnown ? undefined : "invalidParams") : "recordNotFound");
  if (members && isKnown) model.moveProducts(members, add, remove);
};

const deleteGroup: Operation = async ({ service, model, random }) => {
  const name = random.pick(groupNames);
  const members = model.groups.get(name);
  if (members && random.chance(0.5)) {
    // Otherwise, groups would rarely be empty.
    const product_ids_to_remove = [...members];
    await service.groups.update({ group_name: name, product_ids_to_remove });
    model.moveProducts(members, [], product_ids_to_remove);
  }
  const refusal = await refusalOf(service.groups.delete({ group_name: respell(name, random) }));
  expect(refusal).toBe(members ? (members.size > 0 ? "invalidParams" : undefined) : "recordNotFound");
  if (refusal === undefined) model.groups.delete(name);
};

const uploadCoupons: Operation = async ({ service, model, random }) => {
  const action = random.pick(couponActions);
  const odd = ["", "  ", "ab", "x".repeat(65)];
  const codes = Array.from({ length: 1 + random.below(6) }, () =>
    random.chance(0.1) ? random.pick(odd) : `CODE-${random.below(200)}${random.chance(0.1) ? " " : ""}`,
  );
  const uploaded = await service.coupons.upload({ coupon_action: action, codes });
  const { added, ...errors } = model.uploadCoupons(action, codes);
  const counts = Object.entries(uploaded.errors).map(([name, { error_count }]) => [name, error_count]);
  expect([uploaded["new-codes"], Object.fromEntries(counts)]).toEqual([added, errors]);
};

const deleteCoupons: Operation = async ({ service, model, random }) => {
  const action = random.pick(couponActions);
  await service.coupons.delete({ coupon_action: action });
  model.coupons = model.coupons.filter((coupon) => coupon.action !== action);
};

const changeUnsubscribers: Operation = async ({ service, model, random }) => {
  const type = random.pick([1, 7, 15]);
  const emails = Array.from({ length: 1 + random.below(3) }, () => `${random.below(30)}${anAddress(random)}`);
  const isRemoval = random.chance(0.4);
  const call = isRemoval ? service.unsubscribers.massDelete : service.unsubscribers.massCreate;
  expect((await call({ email_list: { [type]: emails } })).errors ?? []).toEqual([]);
  for (const email of emails) {
    if (isRemoval) model.resubscribe(type, email);
    else model.unsubscribe(type, email);
  }
};

const setPromoted: Operation = async ({ service, model, random }) => {
  const product_ids = random.chance(0.6) ? [] : pickSome(productIds, random, 4);
  const refusal = await refusalOf(service.products.setPromoted({ product_ids }));
  const isKnown = product_ids.every((id) => model.products.has(id));
  expect(refusal).toBe(isKnown ? undefined : "invalidParams");
  if (isKnown) model.promoted = product_ids;
};

const minuteMs = 60_000;

const advance: Operation = async ({ random, clock }) => {
  clock.advance(random.pick([1, 2, 7, 10, 30, 60, random.chance(0.05) ? 24 * 60 : 20]) * minuteMs);
};

const setDelay: Operation = async ({ service, model, random }) => {
  const seconds = random.pick([0, 60, 600, 3_600, 86_400]);
  await service.account.set({ bottom_lines_delay: seconds });
  model.delayMs = seconds * 1_000;
};

const readLines: Operation = async ({ service, model, random }) => {
  const [count, page] = [1 + random.below(12), 1 + random.below(3)];
  const { bottomlines } = await service.reviews.bottomLines({ count, page });
  expect(bottomlines).toEqual(model.delayedLines().slice((page - 1) * count, page * count));
};

const weighted: readonly (readonly [number, Operation])[] = [
  [5, createProducts],
  [6, updateProducts],
  [8, createOrders],
  [5, createOrder],
  [18, createReview],
  [9, vote],
  [8, setPublished],
  [3, hideFew],
  [5, comment],
  [3, createGroup],
  [8, updateGroup],
  [3, deleteGroup],
  [4, uploadCoupons],
  [1, deleteCoupons],
  [5, changeUnsubscribers],
  [1, setPromoted],
  [10, advance],
  [2, setDelay],
  [8, readLines],
];

const operations = weighted.flatMap(([weight, operation]) => Array.from({ length: weight }, () => operation));

export function pickOperation(random: Random): Operation {
  return random.pick(operations);
}
