import {
  type contract,
  imageLimits,
  type imageTypes,
  invalidField,
  recordNotFound,
  ServiceError,
  unauthorizedMessage,
} from "../../contract/index.ts";
import type { HandlerContext, Handlers } from "../kernel/handler.ts";
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
    throw new ServiceError("invalidParams", `the review already has the maximum of ${imageLimits.perReview} images`);
  }
  await transaction
    .updateTable("reviews")
    .set({ images: review.images + 1, updated_at: nowMs })
    .where("id", "=", id)
    .execute();
}

type ImageType = (typeof imageTypes)[number];

/** An image in the format in which it is stored. */
interface StorableImage {
  readonly content_type: ImageType;
  readonly base64: string;
}

/**
 * Decodes a base64 image, with or without a `data:` prefix, and detects its type from its first bytes.
 * @throws ServiceError `invalidParams`
 */
function decodeImage(sent: string): StorableImage {
  const base64 = sent.replace(/^data:[^,]{0,100};base64,/i, "");
  const image = Buffer.from(base64, "base64");
  // Node ignores invalid characters, so the result is compared with the input.
  if (image.toString("base64") !== base64) throw invalidField("image", "is not valid base64");
  if (image.length > imageLimits.bytes) {
    throw invalidField("image", `is larger than ${imageLimits.bytes} bytes`);
  }
  const content_type = findType(image);
  if (!content_type) throw invalidField("image", "is not a JPEG, PNG, GIF, or WebP image");
  return { content_type, base64 };
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
