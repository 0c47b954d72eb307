import { actorNames, imageLimits, type PastReview, photoFormPath, type ReviewerType } from "../../contract/index.ts";
import { type AddressedPerson, addShoppers, findAndRenameShopper } from "../accounts/shoppers.ts";
import { accountIdOf, accountOf, actorOf, type HandlerContext } from "../kernel/handler.ts";
import { signClaim } from "../kernel/signed-link.ts";
import { countAnonymous, findHeldFlood, findHeldText } from "./moderation/holds.ts";
import { type Decision, decisionOf, holdBy, isPublished, readPublicationRules } from "./publication.ts";
import { thankForReviews } from "../coupons/issued-coupons.ts";
import { announceReviews } from "./review-emails.ts";
import { openProductView } from "../products/product-view.ts";
import { findRule } from "./moderation/rules.ts";
import type { ReviewParts } from "./review-response.ts";
import { type NewReview, type NewRow, placeReviews, storeReviews } from "./review-rows.ts";
import { reindexReviews } from "./review-index.ts";
import { sql } from "kysely";
import { batchOf } from "../../storage/batch.ts";
import { createDeferredStatement } from "../../storage/statement.ts";

/** Facts about reviews beyond their authors' input. */
interface ReviewFacts {
  /** The email that led to the review, which proves the author's address: the reviewer type, and the order, if it has one. */
  readonly request?: { readonly reviewerType: ReviewerType; readonly orderRow: number | null } | undefined;
  /** The reviewer type that a trusted vendor has signed. */
  readonly signedType?: Exclude<ReviewerType, "anonymous"> | undefined;
}

/**
 * Stores reviews, and publishes them if nothing prevents it, with a constant number of statements.
 * Source: spec "Reviews". Assumed: a review is published immediately, as anonymous until its author is verified, unless it
 * is held or the account's setting requires more; the store can publish or hide it with a reason. A call with a token of
 * the account is the store's decision.
 */
export async function createReviews(
  inputs: readonly NewReview[],
  context: HandlerContext,
  { request, signedType }: ReviewFacts = {},
): Promise<ReviewParts[]> {
  if (inputs.length === 0) return [];
  const { id: accountId } = accountOf(context);
  const isStore = accountOf(context).isStore === true;
  const isByStore = isStore || signedType !== undefined || request !== undefined;
  const reviewer_type = request?.reviewerType ?? signedType ?? "anonymous";
  const authors = await findAuthors(inputs, { reviewer_type, isProven: request !== undefined }, context);
  const { groups, places } = await placeReviews(inputs, authors, isByStore, context);
  const undecided = {
    reviewer_type,
    order_row: request?.orderRow ?? null,
    published: 0,
    moderation: null,
    images: 0,
    untitled: 0,
  };
  const uncommented = { comment: null, comment_at: null, created_at: context.nowMs };
  const parts = places.map(({ product, author, row }) => {
    return { product, author, row: Object.assign(row, undecided, uncommented) };
  });
  const mayHold = !isStore && signedType === undefined;
  const rows = parts.map(({ row }) => row);
  const named = mayHold && request === undefined ? parts.map(({ product }) => product) : [];
  const decisions = await decide(inputs, rows, { isStore, mayHold, named }, context);
  const firstEvent = { event: "created", by: actorNames.user, reason: null };
  const created = await storeReviews(parts, groups, (at) => [firstEvent, ...(decisions[at] ?? [])], context);
  // The author of a request may have chosen another name, which applies to all of their reviews.
  if (request !== undefined)
    await reindexReviews({ authors: rows.map(({ user_row }) => user_row) }, accountId, context);
  const ofOrders = created.filter(({ review }) => review.order_row !== null && review.published === 1);
  const thanked = await thankForReviews(
    ofOrders.map(({ review }) => review.id),
    context,
  );
  for (const { review } of created) review.received_coupon = thanked.has(review.id) ? 1 : 0;
  await announceReviews("review_create", created, context);
  return created;
}

/**
 * Decides in order which of the rows are published.
 * @returns the events of reviews on which a rule or a check decides
 */
async function decide(
  inputs: readonly NewReview[],
  rows: readonly NewRow[],
  {
    isStore,
    mayHold,
    named,
  }: { readonly isStore: boolean; readonly mayHold: boolean; readonly named: readonly ReviewParts["product"][] },
  context: HandlerContext,
): Promise<readonly (readonly Decision[])[]> {
  const { setting, rules } = await readPublicationRules(accountOf(context).id, context);
  const mayFlood = mayHold && context.hasPublicLimits === true;
  const anonymous = rows.filter(({ reviewer_type }) => mayFlood && reviewer_type === "anonymous");
  const counts = await countAnonymous(new Set(anonymous.map(({ rating_target }) => rating_target)), context);
  const products = context.hasPublicLimits === true ? named.flatMap((product) => product ?? []) : [];
  const { findHold } = await openProductView(products, accountOf(context).id, context);
  return inputs.map((input, at) => {
    const row = rows[at] as NewRow;
    const reviewer_type = row.reviewer_type as ReviewerType;
    const count = counts.get(row.rating_target) ?? 0;
    const rule = isStore ? undefined : findRule(rules, { ...input, reviewer_type });
    const isOneOfMany = mayFlood && reviewer_type === "anonymous" ? findHeldFlood(count) : undefined;
    const product = named[at];
    const reason = mayHold ? (findHeldText(input) ?? (product && findHold(product)) ?? isOneOfMany) : undefined;
    const decision = rule ? decisionOf(rule) : reason === undefined ? undefined : holdBy("SERVICE", reason);
    const moderation = isStore ? "published" : (decision?.event ?? null);
    const published = isPublished({ moderation, reviewer_type }, setting);
    Object.assign(row, { moderation, published: published ? 1 : 0 });
    if (published) counts.set(row.rating_target, count + 1);
    return decision ? [decision] : [];
  });
}

async function findAuthors(
  inputs: readonly NewReview[],
  { reviewer_type, isProven }: { readonly reviewer_type: ReviewerType; readonly isProven: boolean },
  context: HandlerContext,
): Promise<readonly AddressedPerson[]> {
  const { id } = accountOf(context);
  const isVerified = reviewer_type !== "anonymous";
  const people = await addShoppers(
    inputs.map((input) => ({ ...input, isVerified })),
    id,
    context,
  );
  if (!isProven) return people;
  const renamed: AddressedPerson[] = [];
  for (const [at, input] of inputs.entries()) {
    const person = await findAndRenameShopper(input, id, context);
    renamed.push({ ...person, email: people[at]?.email ?? input.email });
  }
  return renamed;
}

/** Creates the token with which the author can add images. Assumed: it is valid for one hour. */
export function signImageUpload(reviewId: number, context: HandlerContext): string {
  const expiresAtMs = context.nowMs + imageLimits.tokenLifetimeMs;
  return signClaim(
    { kind: "image_upload", id: reviewId, accountId: accountIdOf(context), expiresAtMs },
    context.sealer,
  );
}

/** The page on which the author of a new review can add photos, for as long as with the token. */
export function photoFormUrl(imageUploadToken: string, { publicUrl }: Pick<HandlerContext, "publicUrl">): string {
  return `${publicUrl}${photoFormPath}/${imageUploadToken}`;
}

export interface ImportedReview {
  readonly input: NewReview;
  readonly past: PastReview;
  readonly reviewer_type: ReviewerType;
}

/**
 * Stores reviews that were written in the past, with a constant number of statements.
 * Assumed: an imported review has the state that the store reports, its comment is as old as the review unless the store
 * states its time, its images stay where they are, and it triggers no emails and no webhook events.
 */
export async function storePastReviews(
  reviews: readonly ImportedReview[],
  context: HandlerContext,
): Promise<ReviewParts[]> {
  if (reviews.length === 0) return [];
  const { id: accountId } = accountOf(context);
  const authors = await addShoppers(
    reviews.map(({ input, reviewer_type }) => ({ ...input, isVerified: reviewer_type !== "anonymous" })),
    accountId,
    context,
  );
  const inputs = reviews.map(({ input }) => input);
  const { groups, places } = await placeReviews(inputs, authors, true, context);
  const parts = reviews.map((review, at) => toParts(review, places[at] as Place));
  const imported = [{ event: "imported", by: actorOf(context), reason: null }];
  const stored = await storeReviews(parts, groups, () => imported, context);
  const images = reviews.flatMap(({ past }, at) => (past.images ?? []).map((url) => [stored[at]?.review.id, url]));
  await insertImages(images, context);
  return stored;
}

type Place = Awaited<ReturnType<typeof placeReviews>>["places"][number];

function toParts({ past, reviewer_type }: ImportedReview, { row, ...place }: Place) {
  const created_at = Date.parse(past.created_at);
  const comment = past.comment ?? null;
  const isShown = past.published ?? true;
  const commentedMs = past.comment_created_at ? Date.parse(past.comment_created_at) : created_at;
  return {
    ...place,
    row: Object.assign(row, {
      reviewer_type,
      published: isShown ? 1 : 0,
      moderation: isShown ? "published" : "unpublished",
      comment,
      comment_at: comment === null ? null : commentedMs,
      created_at,
      images: past.images?.length ?? 0,
      order_row: null,
      untitled: past.untitled ? 1 : 0,
    }),
  };
}

export async function insertImages(images: readonly (readonly unknown[])[], context: HandlerContext): Promise<void> {
  if (images.length === 0) return;
  const { transaction, dialect, nowMs } = context;
  const { id: accountId } = accountOf(context);
  await insertImageRows(transaction, dialect, { accountId, nowMs, rows: JSON.stringify(images) });
}

const insertImageRows = createDeferredStatement<{ accountId: number; nowMs: number; rows: string }>(
  (slot, dialect) => sql`
    insert into review_images (account_id, created_at, content_type, base64, review_row, url)
    select cast(${slot("accountId")} as bigint), cast(${slot("nowMs")} as bigint), '', '', batch.review_row, batch.url
    from ${batchOf({ review_row: "integer", url: "text" }, slot("rows"), dialect)}
    where true
    ${dialect.inBatchOrder}`,
);
