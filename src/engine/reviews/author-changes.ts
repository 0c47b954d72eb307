import { actorNames } from "../../contract/index.ts";
import type { Row } from "../../storage/tables.ts";
import { deleteRows, updateRows } from "../kernel/account-rows.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { removePublicIds } from "../kernel/public-ids.ts";
import { findHeldText } from "./moderation/holds.ts";
import { findRule, toChecked } from "./moderation/rules.ts";
import { countSpace } from "./photo-storage.ts";
import {
  announceUpdate,
  changeReview,
  type Decision,
  decisionOf,
  holdBy,
  readPublicationRules,
  updatePublication,
} from "./publication.ts";
import { reindexReviews } from "./review-index.ts";
import { findReview } from "./review-parts.ts";
import type { ReviewParts } from "./review-response.ts";
import { recordReviewEvents } from "./review-rows.ts";
import { changeText, createChanges, recount } from "./review-update.ts";

const by = actorNames.user;

/**
 * Replaces the text and the score of a review for its author. The rules and the account's setting decide again, as on a new
 * review. Assumed: a review that the store, a rule, or a check has hidden or held stays so.
 */
export async function editReview(
  id: number,
  { title, content, score }: Pick<Row<"reviews">, "title" | "content" | "score">,
  context: HandlerContext,
): Promise<void> {
  const { id: accountId } = accountOf(context);
  const found = await findReview(id, context);
  const { moderation, published } = found.review;
  const changes = createChanges();
  changeText({ review_title: title, review_content: content, review_score: score }, found, changes, "by the author");
  if (changes.fields.length === 0) return;
  await updateRows("reviews", { ...changes.columns, updated_at: context.nowMs }, { id }, context);
  await recount(found.review, changes.columns, context);
  await reindexReviews({ ids: [id] }, accountId, context);
  const isOpen = moderation === null || moderation === "published";
  const decision = isOpen ? await decideAgain(await findReview(id, context), context) : undefined;
  const events = [
    ...changes.events.map((event) => Object.assign({ id, by }, event)),
    ...(decision ? [{ id, ...decision }] : []),
  ];
  await recordReviewEvents(events, accountId, context);
  if (isOpen) await changeReview(id, { moderation: decision?.event ?? null }, context);
  await updatePublication(id, context);
  const { review } = await findReview(id, context);
  await announceUpdate(id, context, ...(review.published < published ? ["unpublished"] : []));
}

async function decideAgain({ review, author }: ReviewParts, context: HandlerContext): Promise<Decision | undefined> {
  const { rules } = await readPublicationRules(review.account_id, context);
  const checked = toChecked(review, author.display_name);
  const rule = findRule(rules, checked);
  if (rule) return decisionOf(rule);
  const reason = findHeldText(checked);
  return reason === undefined ? undefined : holdBy("SERVICE", reason);
}

/** Deletes an image of a review for its author. */
export async function deleteImage(
  { id, review_row, ...sizes }: Pick<Row<"review_images">, "id" | "review_row" | "photo_size" | "thumb_size">,
  context: HandlerContext,
): Promise<void> {
  const { id: accountId } = accountOf(context);
  await countSpace(accountId, [sizes], context, -1);
  await deleteRows("review_images", { account_id: accountId, id }, context);
  await removePublicIds("image", [id], accountId, context);
  const { review } = await findReview(review_row, context);
  await changeReview(review_row, { images: review.images - 1, updated_at: context.nowMs }, context);
  await recordReviewEvents([{ id: review_row, event: "photo_deleted", by, reason: null }], accountId, context);
  await announceUpdate(review_row, context);
}
