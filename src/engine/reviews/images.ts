import {
  type contract,
  imageLimits,
  ServiceError,
  unauthorizedMessage,
  recordNotFound,
} from "../../contract/index.ts";
import type { HandlerContext, Handlers } from "../kernel/handler.ts";
import { decodeImage } from "./image-decoder.ts";
import { formatImageUrls } from "./review-response.ts";
import { type Claim, readClaim } from "../kernel/signed-link.ts";

/** The claim kind of the upload token that the author of a new review receives. */
const claimKind = "image_upload";

export const imageHandlers: Handlers<typeof contract.images> = {
  /**
   * Adds an image to the review that the token is for.
   * @throws ServiceError `unauthorized` if the token is invalid or expired, `recordNotFound`, `invalidParams`
   * Assumed: images can also be added to a hidden review; they become visible when it is published.
   */
  upload: async ({ image_upload_token, image }, context) => {
    const claim = readClaim(image_upload_token, [claimKind], context);
    if (!claim) throw new ServiceError("unauthorized", unauthorizedMessage);
    const stored = decodeImage(image);
    await countImage(claim, context);
    const { id } = await context.transaction
      .insertInto("review_images")
      .values({
        ...stored,
        account_id: claim.accountId,
        review_row: claim.id,
        created_at: context.nowMs,
      })
      .returning("id")
      .executeTakeFirstOrThrow();
    return { image: { id, ...formatImageUrls(id, context.publicUrl) } };
  },

  /**
   * Returns an image of a published review.
   * @throws ServiceError `recordNotFound`
   */
  get: async ({ image_id }, { transaction }) => {
    const found = await transaction
      .selectFrom("review_images")
      .innerJoin("reviews", "reviews.id", "review_images.review_row")
      .select(["review_images.content_type", "review_images.base64"])
      .where("review_images.id", "=", image_id)
      .where("reviews.published", "=", 1)
      .executeTakeFirst();
    if (!found) throw recordNotFound("Image", "id", image_id);
    return found;
  },
};

/** Counts a new image of a review, and updates the review's `updated_at`. */
async function countImage({ id, accountId }: Claim, { transaction, nowMs }: HandlerContext): Promise<void> {
  const review = await transaction
    .selectFrom("reviews")
    .select("images")
    .where("id", "=", id)
    .where("account_id", "=", accountId)
    .executeTakeFirst();
  if (!review) throw recordNotFound("Review", "id", id);
  if (review.images >= imageLimits.perReview) {
    throw new ServiceError(
      "invalidParams",
      `the review already has the maximum of ${imageLimits.perReview} images`,
    );
  }
  await transaction
    .updateTable("reviews")
    .set({ images: review.images + 1, updated_at: nowMs })
    .where("id", "=", id)
    .execute();
}
