import {
  type contract,
  imageDownloadLimits,
  imageLimits,
  imageTypes,
  recordNotFound,
  searchPage,
  ServiceError,
  unauthorizedMessage,
} from "../../contract/index.ts";
import { type SelectQueryBuilder, sql } from "kysely";
import type { Tables } from "../../storage/tables.ts";
import type * as z from "zod";
import { findRow, sameAccount, selectAccountRows, updateAccountRows, updateRows } from "../kernel/account-rows.ts";
import { accountOf, type CallContext, type HandlerContext, type Handlers, operation } from "../kernel/handler.ts";
import { decodeImage, detectImageType } from "../kernel/image-data.ts";
import { readCursor, toPage } from "../kernel/lists/cursor.ts";
import { addPublicIds } from "../kernel/public-ids.ts";
import { processPhoto } from "./photo.ts";
import type { StoredPhoto } from "./photo-codec.ts";
import { countSpace, isStoredHere, largestPhoto, linkedUrl, readPhoto, requireSpace } from "./photo-storage.ts";
import { formatImageUrls } from "./review-response.ts";
import { showsPhotos } from "./review-parts.ts";
import { refreshTags } from "./review-index.ts";
import { type Claim, readClaim } from "../kernel/signed-link.ts";
import { type AddressChecks, createAddressChecks, requestChecked } from "../webhooks/checked-request.ts";
import { readWebhookOwner } from "../webhooks/private-webhooks.ts";

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

  /** Lists images in the order of their IDs, so that those that are copied meanwhile do not move the others. */
  linked: async ({ product_id, limit = searchPage.default, page_info }, context) => {
    const linked = selectAccountRows("review_images", accountOf(context).id, context.transaction)
      .where("review_images.url", "is not", null)
      .where("review_images.width", "is", null);
    const withReviews = linked
      .innerJoin("reviews", sameAccount("reviews.id", "review_images.review_row"))
      .leftJoin("products", sameAccount("products.id", "reviews.product_row"));
    const isOfProduct = sql<boolean>`products.product_id = ${product_id}`;
    const found = product_id === undefined ? withReviews : withReviews.where(isOfProduct);
    const counted = product_id === undefined ? linked : found;
    const total = page_info === undefined ? await countRows(counted) : undefined;
    const listed = await found
      .select(["review_images.id", "review_images.review_row as review_id", "products.product_id"])
      .select("review_images.url")
      .where("review_images.id", ">", page_info === undefined ? 0 : (readCursor(page_info, 1)[0] ?? 0))
      .orderBy("review_images.id")
      .limit(limit + 1)
      .execute();
    const { rows, pagination } = toPage(listed, limit, ({ id }) => [id]);
    const images = rows.map(({ url, ...image }) => Object.assign(image, { url: url ?? "" }));
    return { images, ...(total !== undefined && { total_images: total }), pagination };
  },

  /**
   * Copies an image that is only a URL, with the address checks of webhooks and the limits of uploads. What is wrong with the
   * image is part of the result.
   * @throws ServiceError `recordNotFound`; `bodyTooLarge` if the account has no space; as `downloadInTurn` and
   * `processPhoto`
   * Assumed: the review does not change, so that its `updated_at` stays, and no webhook is called.
   */
  fetch: operation("images.fetch", {
    prepare: prepareFetched,
    run: async ({ image_id, url, photo, problem }, context) => {
      const { transaction } = context;
      const { id: accountId } = accountOf(context);
      const isSame = { id: image_id, url, photo_type: null };
      if (photo && (await updateRows("review_images", photo, isSame, context)) > 0) {
        await requireSpace(accountId, photo, context);
        await countSpace(accountId, [photo], context);
        await addPublicIds("image", [image_id], accountId, context);
      }
      const image = await selectAccountRows("review_images", accountId, transaction)
        .select(["url as source_url", linkedUrl.as("url")])
        .where("id", "=", image_id)
        .executeTakeFirst();
      if (!image) throw recordNotFound("Image", "id", image_id);
      const urls = formatImageUrls({ id: image_id, url: image.url }, context.publicUrl);
      // Another call may have copied it.
      const isCopied = image.url === null;
      return {
        image: {
          id: image_id,
          ...urls,
          source_url: image.source_url,
          problem: isCopied ? null : (problem ?? "the image has another URL now"),
        },
      };
    },
  }),
};

async function countRows(rows: SelectQueryBuilder<Tables, "review_images", object>): Promise<number> {
  const { count } = await rows.select(({ fn }) => fn.countAll<number | bigint>().as("count")).executeTakeFirstOrThrow();
  return Number(count);
}

interface FetchedImage {
  readonly image_id: number;
  readonly url: string | null;
  /** Absent if the image is stored already, or has a problem. */
  readonly photo?: StoredPhoto;
  readonly problem?: string;
}

/** Downloads and processes an image that is not stored yet, before the call takes the write lock. */
async function prepareFetched({ image_id }: { readonly image_id: number }, call: CallContext): Promise<FetchedImage> {
  const context = { ...call, transaction: call.database.db as unknown as HandlerContext["transaction"] };
  const { id: accountId } = accountOf(context);
  const image = await findRow("review_images", ["url", "photo_type"], { id: image_id }, context);
  if (!image) throw recordNotFound("Image", "id", image_id);
  const { url, photo_type } = image;
  if (url === null || photo_type !== null) return { image_id, url };
  await requireSpace(accountId, largestPhoto, context);
  const { isPrivateAllowed } = await readWebhookOwner(accountId, context);
  try {
    const bytes = await downloadInTurn(accountId, () => downloadImage(url, createAddressChecks(isPrivateAllowed)));
    return { image_id, url, photo: await processPhoto(bytes, detectImageType("image", bytes, imageTypes)) };
  } catch (error) {
    if (error instanceof ServiceError && error.kind === "invalidParams")
      return { image_id, url, problem: error.message };
    throw error;
  }
}

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

/** The accounts of the downloads in progress. */
const downloading: number[] = [];

/** @throws ServiceError `unavailable` if the account has enough downloads */
async function downloadInTurn<T>(accountId: number, download: () => Promise<T>): Promise<T> {
  const max = downloading.length < imageDownloadLimits.inTotal ? imageDownloadLimits.perAccount : 1;
  if (downloading.filter((id) => id === accountId).length >= max) {
    throw new ServiceError("unavailable", "too many images are being downloaded", { retryAfterMs: 1_000 });
  }
  downloading.push(accountId);
  try {
    return await download();
  } finally {
    downloading.splice(downloading.indexOf(accountId), 1);
  }
}

/**
 * Downloads an image, of at most the size of an upload.
 * @throws ServiceError `invalidParams`, which states what is wrong
 */
async function downloadImage(url: string, checks: AddressChecks): Promise<Buffer> {
  const { bytes: maxBytes, downloadMs: timeoutMs } = imageLimits;
  const headers = { accept: imageTypes.join(", "), "user-agent": "starpost" };
  const { response, body } = await requestChecked(url, { checks, headers, timeoutMs, maxBytes }).catch(
    (error: Error) => {
      throw new ServiceError("invalidParams", error.message, { cause: error });
    },
  );
  if (response.statusCode === 200) return body;
  throw new ServiceError("invalidParams", `HTTP ${response.statusCode}`);
}
