import type * as z from "zod";
import { actorNames, type contract, type FieldError, type ItemOutcome, outcomeOf } from "../../contract/index.ts";
import type { Row } from "../../storage/tables.ts";
import { verifyAuthor } from "../accounts/shoppers.ts";
import { deleteRows, findRows, updateRows } from "../kernel/account-rows.ts";
import { accountOf, actorOf, type HandlerContext } from "../kernel/handler.ts";
import { removePublicIds } from "../kernel/public-ids.ts";
import { insertImages } from "./new-reviews.ts";
import { countSpace } from "./photo-storage.ts";
import { announceUpdate, updatePublication } from "./publication.ts";
import { reindexReviews } from "./review-index.ts";
import { findReview } from "./review-parts.ts";
import { formatImageUrls, type ReviewParts } from "./review-response.ts";
import { recordReviewEvents, type ReviewEvent } from "./review-rows.ts";
import { updateStarTotals } from "./star-totals.ts";

type Input = z.output<typeof contract.reviews.update.input>;

export function createChanges(): Changes {
  return { columns: {}, fields: [], events: [], dropped: [] };
}

/** The reason of all events of an update, by which they differ from decisions that were made here. */
const reason = "imported again";

/** What an update changes: columns, the fields they belong to, and the events for the history. */
interface Changes {
  readonly columns: Partial<Row<"reviews">>;
  readonly fields: string[];
  readonly events: Omit<ReviewEvent, "id" | "by">[];
  readonly dropped: FieldError[];
}

/**
 * Updates a review from where it was imported, and records what it was before.
 * Assumed: decisions made here win: a comment or a publication that the store has changed here since stays, and so do a
 * verified author and a text that its author has edited here. It sends no emails.
 */
export async function updateReview(
  input: Input,
  context: HandlerContext,
): Promise<ItemOutcome & { readonly parts: ReviewParts }> {
  const { id: accountId } = accountOf(context);
  const found = await findReview(input.review_id, context);
  const { id } = found.review;
  const changes = createChanges();
  const decided = await findDecided(id, context);
  if (decided.has(editedByAuthor)) dropText(input, found, changes);
  else changeText(input, found, changes);
  await changeAuthor(input, found, changes, context);
  await changeImages(input, found, changes, context);
  if (input.past) changeDecisions(input.past, found, decided, changes);
  const { columns, fields, events, dropped } = changes;
  if (fields.length === 0) return { parts: found, ...outcomeOf("unchanged", { dropped }) };
  await updateRows("reviews", { ...columns, updated_at: context.nowMs }, { id }, context);
  await recount(found.review, columns, context);
  await reindexReviews({ ids: [id] }, accountId, context);
  await updatePublication(id, context);
  const recorded = events.length > 0 ? events : [{ event: "edited", reason }];
  await recordReviewEvents(
    recorded.map((event) => Object.assign({ id, by: actorOf(context) }, event)),
    accountId,
    context,
  );
  const parts = await announceUpdate(id, context, ...recorded.map(({ event }) => event));
  return { parts, ...outcomeOf("changed", { fields, dropped }) };
}

/** Changes what the author wrote. The history gets the content; the reason has the title and the score. */
export function changeText(
  input: Pick<Input, "review_title" | "review_content" | "review_score" | "past">,
  { review }: ReviewParts,
  { columns, fields, events }: Changes,
  why = reason,
): void {
  const { review_title: title, review_content: content, review_score: score, past } = input;
  const before: string[] = [];
  if (title !== undefined && title !== review.title) {
    Object.assign(columns, { title, untitled: past?.untitled ? 1 : 0 });
    fields.push("review_title");
    before.push(`the title was ${JSON.stringify(review.title)}`);
  }
  if (score !== undefined && score !== review.score) {
    columns.score = score;
    fields.push("review_score");
    before.push(`the score was ${review.score}`);
  }
  const isRewritten = content !== undefined && content !== review.content;
  if (isRewritten) {
    columns.content = content;
    fields.push("review_content");
  }
  if (fields.length === 0) return;
  const previous = isRewritten ? review.content : null;
  events.push({ event: "edited", reason: [why, ...before].join("; "), previous });
}

const changedSince = "was changed on the service since";

/** Keeps what the author has edited here. */
function dropText(input: Input, found: ReviewParts, { dropped }: Changes): void {
  const ignored = createChanges();
  changeText(input, found, ignored);
  dropped.push(...ignored.fields.map((field) => ({ field, error: changedSince })));
}

/**
 * Changes the name and the type of the author.
 * Assumed: the name of a verified author applies to all they wrote, so it stays.
 */
async function changeAuthor(
  { display_name, user_reference, past }: Input,
  { review, author }: ReviewParts,
  { columns, fields, dropped }: Changes,
  context: HandlerContext,
): Promise<void> {
  if (user_reference && user_reference !== review.user_reference) {
    columns.user_reference = user_reference;
    fields.push("user_reference");
  }
  const { id: accountId } = accountOf(context);
  if (display_name !== undefined && display_name !== author.display_name) {
    const ofNobodyElse = { account_id: accountId, id: author.id, email_key: null };
    if ((await updateRows("users", { display_name }, ofNobodyElse, context)) > 0) fields.push("display_name");
  }
  const type = past?.reviewer_type;
  if (type === undefined || type === review.reviewer_type) return;
  if (type === "anonymous") {
    dropped.push({ field: "reviewer_type", error: "the author is verified" });
    return;
  }
  columns.reviewer_type = type;
  if (review.reviewer_type === "anonymous") columns.user_row = await verifyAuthor(author.id, accountId, context);
  fields.push("reviewer_type");
}

async function changeImages(
  { past }: Input,
  { review }: ReviewParts,
  { columns, fields, dropped }: Changes,
  context: HandlerContext,
): Promise<void> {
  if (!past?.images) return;
  const { id: account_id } = accountOf(context);
  const ofReview = { account_id, review_row: review.id };
  const images = await findRows("review_images", ["id", "url", "photo_size", "thumb_size"], ofReview, context, "id");
  // Exports contain the URLs here, also of images that were copied from elsewhere.
  const isSame = (given: string, { id, url }: (typeof images)[number]) =>
    given === url || given === formatImageUrls({ id, url: null }, context.publicUrl).original_url;
  const given = past.images;
  if (given.length === images.length && images.every((image, nth) => isSame(given[nth] ?? "", image))) return;
  if (images.some(({ url }) => url === null)) {
    dropped.push({ field: "images", error: "the author has uploaded other images" });
    return;
  }
  await countSpace(account_id, images, context, -1);
  await deleteRows("review_images", ofReview, context);
  const ids = images.map(({ id }) => id);
  await removePublicIds("image", ids, account_id, context);
  await insertImages(
    past.images.map((url) => [review.id, url]),
    context,
  );
  columns.images = past.images.length;
  fields.push("images");
}

/** Changes the comment and the publication, unless the store has decided on them here. */
function changeDecisions(
  { comment, comment_created_at, published }: NonNullable<Input["past"]>,
  { review }: ReviewParts,
  decided: ReadonlySet<string>,
  { columns, fields, events, dropped }: Changes,
): void {
  const error = changedSince;
  const isCommentDecided = ["commented", "comment_edited", "comment_deleted"].some((event) => decided.has(event));
  const commentedMs = comment_created_at ? Date.parse(comment_created_at) : undefined;
  const isOther = comment && comment !== review.comment;
  if (isOther && isCommentDecided) dropped.push({ field: "comment", error });
  if (isOther && !isCommentDecided) {
    const event = review.comment === null ? "commented" : "comment_edited";
    Object.assign(columns, { comment, comment_at: commentedMs ?? review.comment_at ?? review.created_at });
    fields.push("comment");
    events.push({ event, reason, previous: review.comment });
  } else if (!isCommentDecided && review.comment !== null && (commentedMs ?? review.comment_at) !== review.comment_at) {
    columns.comment_at = commentedMs ?? null;
    fields.push("comment_created_at");
  }
  if (published === undefined || published === (review.published === 1)) return;
  const isDecided = ["published", "unpublished", "requeued"].some((event) => decided.has(event));
  if (isDecided) {
    dropped.push({ field: "published", error });
    return;
  }
  const event = published ? "published" : "unpublished";
  columns.moderation = event;
  fields.push("published");
  events.push({ event, reason, previous: null });
}

const editedByAuthor = `edited by ${actorNames.user}`;

/** The events of a review's history that are decisions made here. Those of the author name the author. */
async function findDecided(id: number, context: HandlerContext): Promise<ReadonlySet<string>> {
  const { id: account_id } = accountOf(context);
  const events = await findRows(
    "review_events",
    ["event", "reason", "by_name"],
    { account_id, review_row: id },
    context,
  );
  const made = events.filter((event) => event.reason !== reason);
  return new Set(made.map(({ event, by_name }) => (by_name === actorNames.user ? `${event} by ${by_name}` : event)));
}

/** Counts the new score of a published review instead of the old one. */
export async function recount(
  { product_row: productRow, published, score }: Row<"reviews">,
  columns: Partial<Row<"reviews">>,
  context: HandlerContext,
): Promise<void> {
  if (columns.score === undefined || published === 0) return;
  const counted = [
    { productRow, score, by: -1 as const },
    { productRow, score: columns.score, by: 1 as const },
  ];
  await updateStarTotals(counted, accountOf(context).id, context);
}
