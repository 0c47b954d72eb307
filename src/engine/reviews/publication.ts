import { sql } from "kysely";
import {
  type contract,
  type PublishedReviews,
  publishedReviews,
  type ReviewRule,
  type WebhookEvent,
} from "../../contract/index.ts";
import type { Row } from "../../storage/tables.ts";
import { readSettings, saveSetting } from "../accounts/account-settings.ts";
import { selectAccountRows, updateAccountRows, updateRows } from "../kernel/account-rows.ts";
import { accountIdOf, accountOf, actorOf, type HandlerContext, type Preparation } from "../kernel/handler.ts";
import { parseRules, ruleAuthor } from "./moderation/rules.ts";
import { confirmProduct } from "../products/product-view.ts";
import { thankForReviews } from "../coupons/issued-coupons.ts";
import { refreshTags } from "./review-index.ts";
import { updateStarTotals } from "./star-totals.ts";
import type * as z from "zod";
import { announceReviews } from "./review-emails.ts";
import { findReview } from "./review-parts.ts";
import type { ReviewParts } from "./review-response.ts";
import { recordReviewEvents, type ReviewEvent } from "./review-rows.ts";

type Review = Row<"reviews">;

/** The store's decision on a review, or `held` until it decides. */
type Moderation = "published" | "unpublished" | "held";

/** Reads which reviews of an account are published without a decision of the store. */
export async function readPublishedReviews(
  accountId: number,
  context: Pick<HandlerContext, "transaction" | "dialect">,
): Promise<PublishedReviews> {
  return (await readPublicationRules(accountId, context)).setting;
}

/** Reads what decides on new reviews: the account's setting, and its rules. */
export async function readPublicationRules(
  accountId: number,
  context: Pick<HandlerContext, "transaction" | "dialect">,
) {
  const stored = await readSettings(["published_reviews", "review_rules"], context, accountId);
  const setting: PublishedReviews = publishedReviews.find((name) => name === stored.published_reviews) ?? "all";
  return { setting, rules: parseRules(stored.review_rules).rules };
}

/** A decision of a rule or a check, as an event. Its name is also the value of `moderation`. */
export interface Decision {
  readonly event: Moderation;
  readonly by: string;
  readonly reason: string;
}

const moderationOf = { publish: "published", hold: "held", reject: "unpublished" } as const;

export function decisionOf(rule: ReviewRule): Decision {
  return { event: moderationOf[rule.action], by: ruleAuthor(rule), reason: rule.reason };
}

export function holdBy(by: string, reason: string): Decision {
  return { event: "held", by, reason };
}

/** Whether a review is published. Source: spec "States and transitions". Assumed: the store's decision comes first. */
export function isPublished(
  { moderation, reviewer_type }: Pick<Review, "moderation" | "reviewer_type">,
  setting: PublishedReviews,
): boolean {
  if (moderation !== null) return moderation === "published";
  return setting === "all" || (setting === "verified" && reviewer_type !== "anonymous");
}

/** Publishes or hides a review, and counts it, after the store's decision or the reviewer's type has changed. */
export async function updatePublication(id: number, context: HandlerContext): Promise<void> {
  const accountId = accountIdOf(context);
  const review = await selectAccountRows("reviews", accountId, context.transaction)
    .select(["published", "moderation", "reviewer_type"])
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  const published = isPublished(review, await readPublishedReviews(accountId, context)) ? 1 : 0;
  if (published !== review.published) await togglePublication([id], accountId, context);
}

/** Publishes the reviews that are hidden, hides those that are published, and counts them. */
async function togglePublication(ids: readonly number[], accountId: number, context: HandlerContext): Promise<void> {
  if (ids.length === 0) return;
  const changed = await updateAccountRows("reviews", accountId, context.transaction)
    .set({ published: sql`1 - published`, updated_at: context.nowMs })
    .where("id", "in", ids)
    .returning(["id", "product_row", "score", "published", "order_row"])
    .execute();
  await refreshTags(ids, accountId, context);
  const counted = changed.map(({ product_row, score, published }) => {
    return { productRow: product_row, score, by: published === 1 ? (1 as const) : (-1 as const) };
  });
  await updateStarTotals(counted, accountId, context);
  const ofOrders = changed.filter(({ published, order_row }) => published === 1 && order_row !== null);
  await thankForReviews(
    ofOrders.map(({ id }) => id),
    context,
  );
}

/** How many reviews one transaction publishes or hides, so that other calls can run in between. */
const reviewsPerStep = 100;

/**
 * Saves the account's setting, and then publishes and hides existing reviews accordingly, in several transactions.
 * Assumed: the setting also applies to reviews that were written before.
 */
export function changePublication(setting: PublishedReviews | undefined): Preparation {
  let isSaved = setting === undefined;
  // New reviews already follow the setting, so each is examined once.
  let lastId = 0;
  return {
    isDue: async (context: HandlerContext) =>
      !isSaved || (setting !== undefined && (await selectMisplaced({ lastId, limit: 1 }, context)).length > 0),
    write: async (context: HandlerContext) => {
      if (!isSaved && setting !== undefined) {
        await saveSetting({ name: "published_reviews", value: setting }, context, accountOf(context).id);
      }
      isSaved = true;
      const ids = await selectMisplaced({ lastId, limit: reviewsPerStep }, context);
      await togglePublication(ids, accountOf(context).id, context);
      lastId = ids.at(-1) ?? lastId;
    },
  };
}

/** Selects undecided reviews whose publication differs from the account's setting. */
async function selectMisplaced(
  { lastId, limit }: { readonly lastId: number; readonly limit: number },
  context: HandlerContext,
): Promise<readonly number[]> {
  const { id } = accountOf(context);
  const setting = await readPublishedReviews(id, context);
  const wanted = {
    all: sql<number>`1`,
    verified: sql<number>`case when reviewer_type = 'anonymous' then 0 else 1 end`,
    moderated: sql<number>`0`,
  }[setting];
  const found = await selectAccountRows("reviews", id, context.transaction)
    .select("id")
    .where("id", ">", lastId)
    .where("moderation", "is", null)
    .where("published", "!=", wanted)
    .orderBy("id")
    .limit(limit)
    .execute();
  return found.map((row) => row.id);
}

/**
 * Publishes or hides a review.
 * Assumed: every call is recorded with its reason, even if it changes nothing, unless it repeats the last event; `by`
 * defaults to the header of the call, or else MODERATOR.
 */
export async function setPublished(
  { review_id, published, reason, by }: z.output<typeof contract.reviews.setPublished.input>,
  context: HandlerContext,
): Promise<ReviewParts> {
  const accountId = accountOf(context).id;
  const found = await findReview(review_id, context);
  const { product_row: productRow } = found.review;
  if (published && productRow !== null) await confirmProduct(productRow, accountId, context);
  const event = { id: review_id, event: published ? "published" : "unpublished", by: actorOf(context, by), reason };
  if (await isLastEvent(event, accountId, context)) return found;
  await recordReviewEvents([event], accountId, context);
  await changeReview(review_id, { moderation: event.event }, context);
  await updatePublication(review_id, context);
  return announceUpdate(review_id, context, event.event);
}

/** Whether the event equals the last one in the review's history. */
async function isLastEvent(
  { id, event, by, reason }: ReviewEvent,
  accountId: number,
  { transaction }: HandlerContext,
): Promise<boolean> {
  const last = await selectAccountRows("review_events", accountId, transaction)
    .select(["event", "by_name", "reason"])
    .where("review_row", "=", id)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return last?.event === event && last.by_name === by && last.reason === reason;
}

export async function changeReview(id: number, changes: Partial<Row<"reviews">>, context: HandlerContext) {
  await updateRows("reviews", changes, { id }, context);
  await refreshTags([id], accountIdOf(context), context);
}

/** The webhook events for events in a review's history. */
const announced: Readonly<Record<string, WebhookEvent>> = {
  published: "review_published",
  unpublished: "review_hidden",
  commented: "review_commented",
  comment_edited: "review_comment_edited",
  comment_deleted: "review_comment_deleted",
};

/** @param events the events in the review's history for which webhooks may ask */
export async function announceUpdate(
  id: number,
  context: HandlerContext,
  ...events: readonly string[]
): Promise<ReviewParts> {
  const parts = await findReview(id, context);
  await announceReviews("review_updated", [parts], context);
  for (const event of events) {
    const own = announced[event];
    if (own !== undefined) await announceReviews(own, [parts], context);
  }
  return parts;
}
