import { sql } from "kysely";
import type * as z from "zod";
import { type contract, type ReviewState, reviewStates, siteReviewsId } from "../../contract/index.ts";
import { findRow } from "../kernel/account-rows.ts";
import type { Condition, FilteredList } from "../kernel/lists/filtered-list.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { isWrittenBy } from "../kernel/lists/authors.ts";
import { findProductRow } from "../products/product-lookup.ts";
import { siteTarget } from "./rating-targets.ts";
import { reviewTags } from "./review-index.ts";

type Query = z.output<typeof contract.reviews.search.input>;

/** The expressions of indexes. */
const isAnswered = sql`(case when reviews.comment is null then 0 else 1 end)`;
const decision = sql`coalesce(reviews.moderation, 'pending')`;

const scores = [1, 2, 3, 4, 5];

/** Chooses the index that leads to the fewest reviews, and lists the other filters as conditions. */
export async function planReviewSearch(query: Query, context: HandlerContext): Promise<FilteredList> {
  const parts = (await findFewParts(query, context)) ?? (await findSortedParts(query, context));
  return {
    table: "reviews",
    words: "review_words",
    parts: parts ?? [sql`1 = 1`],
    isFew: isFew(query),
    conditions: await listConditions(query, context),
    isNarrow: parts !== undefined,
    tags: await listTags(query, context),
  };
}

/** Whether a filter is given that few reviews match. */
function isFew({ order_id, email, user_reference }: Query): boolean {
  return order_id !== undefined || email !== undefined || user_reference !== undefined;
}

/** Whether the index of scores is used, which also contains whether a review is answered. */
function usesScores(query: Query): boolean {
  const { product_id, with_images, unanswered, score } = query;
  if (isFew(query) || product_id !== undefined || with_images === true) return false;
  return statesOf(query).includes("published") && (unanswered === true || score !== undefined);
}

function statesOf({ state, deleted }: Query): readonly ReviewState[] {
  return state ?? (deleted === true ? reviewStates : ["published"]);
}

/** The index for filters that few reviews match. */
async function findFewParts(query: Query, context: HandlerContext): Promise<readonly Condition[] | undefined> {
  const { email, user_reference } = query;
  if (query.order_id !== undefined) return [sql`reviews.order_row = ${await findOrderRow(query.order_id, context)}`];
  if (email !== undefined) return [isWrittenBy("reviews", email, context)];
  return user_reference === undefined ? undefined : [sql`reviews.user_reference = ${user_reference}`];
}

/** The index for filters that many reviews can match, sorted by creation time. */
async function findSortedParts(query: Query, context: HandlerContext): Promise<readonly Condition[] | undefined> {
  const states = statesOf(query);
  const { product_id, with_images, unanswered, score } = query;
  if (product_id === siteReviewsId) {
    const target = siteTarget(accountOf(context).id);
    return flagsOf(states).map(
      (published) => sql`reviews.rating_target = ${target} and reviews.published = ${published}`,
    );
  }
  if (product_id !== undefined) return [sql`reviews.product_row = ${await findProductRow(product_id, context)}`];
  if (!states.includes("published")) {
    return states.map((state) => sql`reviews.published = 0 and ${decision} = ${state}`);
  }
  if (with_images === true) return [sql`reviews.images > 0`];
  if (!usesScores(query)) return undefined;
  const answered = unanswered === true ? [0] : [0, 1];
  return (score ?? scores).flatMap((one) =>
    answered.map((flag) => sql<boolean>`reviews.score = ${one} and ${isAnswered} = ${flag}`),
  );
}

function flagsOf(states: readonly ReviewState[]): readonly number[] {
  const isHidden = states.some((state) => state !== "published");
  return [...(states.includes("published") ? [1] : []), ...(isHidden ? [0] : [])];
}

async function listConditions(query: Query, context: HandlerContext): Promise<readonly Condition[]> {
  const withoutIndex = (name: string) => context.dialect.withoutIndex(sql.ref(`reviews.${name}`));
  const published = withoutIndex("published");
  const states = statesOf(query);
  const conditions: Condition[] = [];
  if (states.every((state) => state === "published")) conditions.push(sql`${published} = 1`);
  else if (states.length < reviewStates.length) {
    const state = sql`case when ${published} = 1 then 'published' else ${decision} end`;
    conditions.push(sql`${state} in (${sql.join(states)})`);
  }
  const { score, with_images, unanswered, email, product_id, user_reference } = query;
  // Conditions that the index answers already would make PostgreSQL expect too few rows, and sort them.
  const isByScore = usesScores(query);
  if (score && !isByScore) conditions.push(sql`${withoutIndex("score")} in (${sql.join(score)})`);
  if (with_images === true) conditions.push(sql`${withoutIndex("images")} > 0`);
  if (unanswered === true && !isByScore) conditions.push(sql`reviews.comment is null`);
  if (query.order_id !== undefined && email !== undefined) conditions.push(isWrittenBy("reviews", email, context));
  if (user_reference !== undefined) {
    conditions.push(sql`${withoutIndex("user_reference")} = ${user_reference}`);
  }
  // Otherwise, the product's index is used.
  if (product_id !== undefined && isFew(query)) conditions.push(await isAbout(product_id, context));
  return conditions;
}

/** The tags of the filters, for searches of words. Few reviews match the others, so these are listed instead. */
async function listTags(query: Query, context: HandlerContext): Promise<readonly (readonly string[])[]> {
  if (query.search === undefined || !context.dialect.textSearch.hasTags) return [];
  const { product_id, score, with_images, unanswered } = query;
  const states = statesOf(query);
  const tags: (readonly string[])[] = [];
  if (product_id !== undefined) {
    tags.push([reviewTags.product(product_id === siteReviewsId ? null : await findProductRow(product_id, context))]);
  }
  if (score) tags.push(score.map(reviewTags.score));
  if (with_images === true) tags.push([reviewTags.withImages]);
  if (unanswered === true) tags.push([reviewTags.unanswered]);
  if (!states.includes("published")) tags.push(states.map(reviewTags.state));
  return tags;
}

async function isAbout(product_id: string, context: HandlerContext): Promise<Condition> {
  const row = context.dialect.withoutIndex(sql.ref("reviews.product_row"));
  if (product_id === siteReviewsId) return sql`coalesce(${row}, 0) = 0`;
  return sql`${row} = ${await findProductRow(product_id, context)}`;
}

async function findOrderRow(orderId: string, context: HandlerContext): Promise<number> {
  const found = await findRow("orders", ["id"], { order_id: orderId }, context);
  return found?.id ?? 0;
}
