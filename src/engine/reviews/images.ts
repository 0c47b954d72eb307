import {
  type contract,
  imageLimits,
  imageTypes,
  recordNotFound,
  ServiceError,
  unauthorizedMessage,
} from "../../contract/index.ts";
import type * as z from "zod";
import { findRow, sameAccount, selectAccountRows, updateAccountRows } from "../kernel/account-rows.ts";
import { type CallContext, type HandlerContext, type Handlers, operation } from "../kernel/handler.ts";
import { decodeImage } from "../kernel/image-data.ts";
import { addPublicIds } from "../kernel/public-ids.ts";
import { processPhoto } from "./photo.ts";
import type { StoredPhoto } from "./photo-codec.ts";
import { countSpace, isStoredHere, largestPhoto, readPhoto, requireSpace } from "./photo-storage.ts";
import { formatImageUrls } from "./review-response.ts";
import { showsPhotos } from "./review-parts.ts";
import { refreshTags } from "./review-index.ts";
import { type Claim, readClaim } from "../kernel/signed-link.ts";

/** The claim kind of the upload token that the author of a new review receives. */
export const imageClaimKind = "image_upload";

export const imageHandlers: Handlers<typeof contract.images> = {
  /**
   * Adds an image to the review that the token is for.
   * @throws ServiceError as `prepareImage`, and as `requireRoom`
   * Assumed: images can also be added to a hidden review; they become visible when it is published.
   */
  upload: operation("images.upload", {
    owner: { claim: "image_upload_token" },
    prepare: prepareImage,
    run: async (prepared, context) => {
      const id = await addImage(prepared, context);
      return { image: { id, ...formatImageUrls({ id, url: null }, context.publicUrl) } };
    },
  }),

  /**
   * Returns a public photo: see `showsPhotos`. An image that is a URL is not here.
   * @throws ServiceError `recordNotFound`, `unavailable`
   */
  get: operation("images.get", {
    owner: { kind: "image", field: "image_id" },
    run: async ({ image_id, size = "original" }, context) => {
      const { transaction, ownerId } = context;
      if (ownerId === undefined) throw recordNotFound("Image", "id", image_id);
      const found = await selectAccountRows("review_images", ownerId, transaction)
        .innerJoin("reviews", sameAccount("reviews.id", "review_images.review_row"))
        .select(["review_images.id", "review_images.account_id"])
        .where("review_images.id", "=", image_id)
        .where("reviews.published", "=", 1)
        .where(showsPhotos)
        .where(isStoredHere)
        .executeTakeFirst();
      if (!found) throw recordNotFound("Image", "id", image_id);
      return readPhoto(found, size, context);
    },
  }),
};

/** The input of an upload after the token was checked and the photo was processed. */
export interface PreparedImage {
  readonly claim: Claim;
  readonly photo: StoredPhoto;
}

/**
 * Checks the token, and then processes the photo, before the call takes the write lock.
 * @throws ServiceError `unauthorized` if the token is invalid or expired; `invalidParams`, `unavailable`; as `requireRoom`
 */
export async function prepareImage(
  { image_upload_token, image }: z.output<(typeof contract.images.upload)["input"]>,
  call: CallContext,
): Promise<PreparedImage> {
  const claim = readClaim(image_upload_token, [imageClaimKind], call);
  if (!claim) throw new ServiceError("unauthorized", unauthorizedMessage);
  // Refuses uploads before they are decoded, unless there is room for the largest photo.
  await requireRoom(claim, largestPhoto, { ...call, transaction: call.database.db });
  const { bytes, type } = decodeImage("image", image, { types: imageTypes, bytes: imageLimits.bytes });
  return { claim, photo: await processPhoto(bytes, type) };
}

/** Stores a photo. @returns its ID @throws ServiceError as `requireRoom` */
export async function addImage({ claim, photo }: PreparedImage, context: HandlerContext): Promise<number> {
  const { transaction, nowMs } = context;
  const { id: review_row, accountId } = claim;
  const images = await requireRoom(claim, photo, context);
  await updateAccountRows("reviews", accountId, transaction)
    .set({ images: images + 1, updated_at: nowMs })
    .where("id", "=", review_row)
    .execute();
  if (images === 0) await refreshTags([review_row], accountId, context);
  await countSpace(accountId, [photo], context);
  const stored = { content_type: "", base64: "", created_at: nowMs, ...photo };
  const { id } = await transaction
    .insertInto("review_images")
    .values({ ...stored, account_id: accountId, review_row })
    .returning("id")
    .executeTakeFirstOrThrow();
  await addPublicIds("image", [id], accountId, context);
  return id;
}

/**
 * Checks that a review, and its account, have room for one more photo.
 * @returns the number of images of the review
 * @throws ServiceError `recordNotFound`; `invalidParams` if the review has enough images; `bodyTooLarge`
 */
async function requireRoom(
  { id, accountId }: Claim,
  photo: Parameters<typeof requireSpace>[1],
  context: Parameters<typeof requireSpace>[2],
): Promise<number> {
  const review = await findRow("reviews", ["images"], { account_id: accountId, id }, context);
  if (!review) throw recordNotFound("Review", "id", id);
  if (review.images >= imageLimits.perReview) {
    throw new ServiceError("invalidParams", `the review already has the maximum of ${imageLimits.perReview} images`);
  }
  await requireSpace(accountId, photo, context);
  return review.images;
}
