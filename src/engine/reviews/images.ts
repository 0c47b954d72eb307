import {
  type contract,
  imageLimits,
  type imageTypes,
  invalidField,
  photoLimits,
  recordNotFound,
  ServiceError,
  unauthorizedMessage,
} from "../../contract/index.ts";
import type * as z from "zod";
import { findRow, sameAccount, selectAccountRows, updateAccountRows } from "../kernel/account-rows.ts";
import { type CallContext, type Handlers, operation } from "../kernel/handler.ts";
import { addPublicIds } from "../kernel/public-ids.ts";
import { processPhoto } from "./photo.ts";
import type { StoredPhoto } from "./photo-codec.ts";
import { countSpace, readPhoto, requireSpace } from "./photo-storage.ts";
import { formatImageUrls } from "./review-response.ts";
import { showsPhotos } from "./review-parts.ts";
import { refreshTags } from "./review-index.ts";
import { type Claim, readClaim } from "../kernel/signed-link.ts";

/** The claim kind of the upload token that the author of a new review receives. */
const claimKind = "image_upload";

export const imageHandlers: Handlers<typeof contract.images> = {
  /**
   * Adds an image to the review that the token is for.
   * @throws ServiceError as `prepareImage`, and as `requireRoom`
   * Assumed: images can also be added to a hidden review; they become visible when it is published.
   */
  upload: operation("images.upload", {
    owner: { claim: "image_upload_token" },
    prepare: prepareImage,
    run: async ({ claim, photo }, context) => {
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
        .where("review_images.url", "is", null)
        .executeTakeFirst();
      if (!found) throw recordNotFound("Image", "id", image_id);
      return readPhoto(found, size, context);
    },
  }),
};

/** The input of an upload after the token was checked and the photo was processed. */
interface PreparedImage {
  readonly claim: Claim;
  readonly photo: StoredPhoto;
}

/**
 * Checks the token, and then processes the photo, before the call takes the write lock.
 * @throws ServiceError `unauthorized` if the token is invalid or expired; `invalidParams`, `unavailable`; as `requireRoom`
 */
async function prepareImage(
  { image_upload_token, image }: z.output<(typeof contract.images.upload)["input"]>,
  call: CallContext,
): Promise<PreparedImage> {
  const claim = readClaim(image_upload_token, [claimKind], call);
  if (!claim) throw new ServiceError("unauthorized", unauthorizedMessage);
  // Refuses uploads before they are decoded, unless there is room for the largest photo.
  const largest = { photo_size: photoLimits.bytes, thumb_size: photoLimits.thumbBytes };
  await requireRoom(claim, largest, { ...call, transaction: call.database.db });
  const { bytes, type } = decodeImage(image);
  return { claim, photo: await processPhoto(bytes, type) };
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

type ImageType = (typeof imageTypes)[number];

/**
 * Decodes a base64 image, with or without a `data:` prefix, and detects its type from its first bytes.
 * @throws ServiceError `invalidParams`
 */
function decodeImage(sent: string): { readonly bytes: Buffer; readonly type: ImageType } {
  const base64 = sent.replace(/^data:[^,]{0,100};base64,/i, "");
  const bytes = Buffer.from(base64, "base64");
  // Node.js ignores invalid characters, so that fewer bytes remain, and accepts the characters of base64url.
  const isComplete = bytes.length === Buffer.byteLength(base64, "base64") && base64.length % 4 === 0;
  if (!isComplete || base64.includes("-") || base64.includes("_")) throw invalidField("image", "is not valid base64");
  if (bytes.length > imageLimits.bytes) {
    throw invalidField("image", `is larger than ${imageLimits.bytes} bytes`);
  }
  const type = findType(bytes);
  if (type) return { bytes, type };
  const isHeic = /^ftyp(?:hei|hev|mif1|msf1|avi)/.test(bytes.toString("latin1", 4, 12));
  throw invalidField(
    "image",
    isHeic ? "is a HEIC or AVIF photo; convert it to JPEG" : "is not a JPEG, PNG, GIF, or WebP image",
  );
}

const pngStart = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const jpegStart = Buffer.from([0xff, 0xd8, 0xff]);

function findType(image: Buffer): ImageType | undefined {
  const startsWith = (start: Buffer) => image.subarray(0, start.length).equals(start);
  const textAt = (from: number, to: number) => image.toString("latin1", from, to);
  if (startsWith(jpegStart)) return "image/jpeg";
  if (startsWith(pngStart)) return "image/png";
  if (textAt(0, 6) === "GIF87a" || textAt(0, 6) === "GIF89a") return "image/gif";
  if (textAt(0, 4) === "RIFF" && textAt(8, 12) === "WEBP") return "image/webp";
  return undefined;
}
