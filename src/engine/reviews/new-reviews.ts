import { actorNames, imageLimits, type ReviewerType } from "../../contract/index.ts";
import { type AddressedPerson, addShoppers, findAndRenameShopper } from "../accounts/shoppers.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { signClaim } from "../kernel/signed-link.ts";
import { countAnonymous, findHeldFlood, findHeldText } from "./moderation/holds.ts";
import { type Decision, decisionOf, holdBy, isPublished, readPublicationRules } from "./publication.ts";
import { announceReviews } from "./review-announcement.ts";
import { findRule } from "./moderation/rules.ts";
import { findGroups } from "./rating-targets.ts";
import type { ReviewParts } from "./review-response.ts";
import {
  addReviewedProducts,
  countPublished,
  insertReviews,
  type NewRow,
  recordReviewEvents,
  targetOf,
  toStored,
} from "./review-rows.ts";
import { indexReviews, reindexReviews } from "./review-index.ts";
import type { NewReview } from "./reviewed-product.ts";

/** Facts about reviews beyond their authors' input. */
interface ReviewFacts {
  /** The order whose email led to the review, which proves that the author's address is a buyer's. */
  readonly orderRow?: number | undefined;
  /** The reviewer type that a trusted vendor has signed. */
  readonly signedType?: Exclude<ReviewerType, "anonymous"> | undefined;
}

const buyer = "verified_buyer" satisfies ReviewerType;

/**
 * Stores reviews, and publishes them if nothing prevents it, with a constant number of statements.
 * Source: spec "Reviews". Assumed: a review is published immediately, as anonymous until its author is verified, unless it
 * is held or the account's setting requires more; the store can publish or hide it with a reason. A call with a token of
 * the account is the store's decision.
 */
export async function createReviews(
  inputs: readonly NewReview[],
  context: HandlerContext,
  { orderRow, signedType }: ReviewFacts = {},
): Promise<ReviewParts[]> {
  if (inputs.length === 0) return [];
  const { id: accountId } = accountOf(context);
  const isStore = accountOf(context).isStore === true;
  const isByStore = isStore || signedType !== undefined || orderRow !== undefined;
  const products = await addReviewedProducts(inputs, isByStore, context);
  const reviewer_type = orderRow === undefined ? (signedType ?? "anonymous") : buyer;
  const authors = await findAuthors(inputs, { reviewer_type, isProven: orderRow !== undefined }, context);
  const productRows = Array.from(products.values(), ({ id }) => id);
  const groups = await findGroups(productRows, accountId, context);
  const parts = inputs.map((input, at) => {
    const product = products.get(input.sku);
    const author = authors[at];
    if (!author) throw new Error("an author was not stored");
    const target = targetOf(product, groups, accountId);
    const rows = { product_row: product?.id ?? null, user_row: author.id, order_row: orderRow ?? null };
    return {
      input,
      product,
      author,
      target,
      row: toRow(input, { ...rows, rating_target: target, reviewer_type }, context),
    };
  });
  const mayHold = !isStore && signedType === undefined;
  const decisions = await decide(parts, { isStore, mayHold, isAnonymous: reviewer_type === "anonymous" }, context);
  const rows = parts.map(({ row }) => row);
  const ids = await insertReviews(rows, context);
  await countPublished(rows, groups, context);
  const events = ids.flatMap((id, at) => {
    const decision = decisions[at];
    const created = { id, event: "created", by: actorNames.user, reason: null };
    return decision ? [created, { id, ...decision }] : [created];
  });
  await recordReviewEvents(events, accountId, context);
  const created = parts.map(({ row, author, product }, at) => ({
    review: toStored(row, ids[at] ?? 0, context),
    author,
    product,
  }));
  await indexReviews(created, accountId, context);
  // The author of a request may have chosen another name, which applies to all of their reviews.
  if (orderRow !== undefined)
    await reindexReviews({ authors: rows.map(({ user_row }) => user_row) }, accountId, context);
  await announceReviews("review_create", created, context);
  return created;
}

function toRow(
  input: NewReview,
  rows: Pick<NewRow, "product_row" | "user_row" | "order_row" | "rating_target" | "reviewer_type">,
  { nowMs }: HandlerContext,
): NewRow {
  return {
    ...rows,
    title: input.review_title,
    content: input.review_content,
    score: input.review_score,
    user_reference: input.user_reference || null,
    domain: input.domain || null,
    published: 0,
    moderation: null,
    comment: null,
    comment_at: null,
    created_at: nowMs,
    images: 0,
  };
}

/**
 * Decides in order which of the rows are published.
 * @returns the events of reviews on which a rule or a check decides
 */
async function decide(
  reviews: readonly { readonly input: NewReview; readonly target: string; readonly row: NewRow }[],
  { isStore, mayHold, isAnonymous }: Readonly<Record<"isStore" | "mayHold" | "isAnonymous", boolean>>,
  context: HandlerContext,
): Promise<readonly (Decision | undefined)[]> {
  const { setting, rules } = await readPublicationRules(accountOf(context).id, context);
  const targets = new Set(mayHold && isAnonymous ? reviews.map(({ target }) => target) : []);
  const anonymous = await countAnonymous(targets, context);
  return reviews.map(({ input, target, row }) => {
    const count = anonymous.get(target) ?? 0;
    const checked = { ...input, reviewer_type: row.reviewer_type as ReviewerType };
    const rule = isStore ? undefined : findRule(rules, checked);
    const reason = mayHold ? (findHeldText(input) ?? (isAnonymous ? findHeldFlood(count) : undefined)) : undefined;
    const decision = rule ? decisionOf(rule) : reason === undefined ? undefined : holdBy("SERVICE", reason);
    const moderation = isStore ? "published" : (decision?.event ?? null);
    const published = isPublished({ moderation, reviewer_type: row.reviewer_type }, setting);
    Object.assign(row, { moderation, published: published ? 1 : 0 });
    if (published) anonymous.set(target, count + 1);
    return decision;
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
    { kind: "image_upload", id: reviewId, accountId: accountOf(context).id, expiresAtMs },
    context.sealer,
  );
}
