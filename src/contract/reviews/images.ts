import * as z from "zod";
import { cacheLifetimes } from "../http-limits.ts";
import { endpoint, extensionPrefix, route } from "../endpoint.ts";
import { lazily } from "../lazily.ts";
import { nextPage, searchListing, searchPages } from "../lists/filters.ts";
import { bytes, bytesOutput } from "../reply.ts";
import { shape } from "../shapes.ts";
import { hourMs } from "../time.ts";

/** Accepted image types, detected from the first bytes. */
export const imageTypes = ["image/jpeg", "image/png", "image/gif", "image/webp"] as const;

/** Assumed: the specification states no limits for images. */
export const imageLimits = {
  perReview: 5,
  /** Images of a past review, which are stored as URLs. */
  perPastReview: 20,
  bytes: 5 * 1_024 * 1_024,
  /** Time in which an image is downloaded from elsewhere, in milliseconds. */
  downloadMs: 15_000,
  tokenLifetimeMs: hourMs,
} as const;

/**
 * How many images are downloaded at the same time, because each is in memory: for an account, and in total. After that, one
 * for each account, so that none waits for others.
 */
export const imageDownloadLimits = { perAccount: 16, inTotal: 32 } as const;

/** The maximum length of an image in base64, with a `data:` prefix, in characters. */
export const maxImageText = Math.ceil((imageLimits.bytes * 4) / 3) + 100;

/**
 * Assumed: photos whose pixels take more than `decodedBytes` in memory are rejected: 50 megapixels with three channels of 8
 * bits. A photo is stored in several sizes; `sizes` states the maximum of bytes by the longer edge in pixels.
 */
export const photoLimits = {
  decodedBytes: 150_000_000,
  sizes: { 160: 20_000, 480: 100_000, 1_200: 500_000 },
  /** The default of the space that the photos of an account may take up. */
  bytesPerAccount: 1_024 ** 3,
} as const;

/** Assumed: `thumb` names the size of 480 pixels, and `original` the largest one. */
const sizeNames = ["original", "thumb", "160", "480", "1200"] as const;
export type PhotoSize = (typeof sizeNames)[number];

const imageUrls = lazily(() => ({ id: z.number().int(), thumb_url: z.string(), original_url: z.string() }));

export const images = {
  upload: endpoint({
    summary: "Add an image to a review, using the upload token of the new review",
    publicKind: "images",
    ...route("POST", `${extensionPrefix}/images`),
    auth: "open",
    effect: "once",
    // The other fields, and line breaks in the image, need some more.
    maxBodyBytes: maxImageText + 256 * 1_024,
    input: () => ({
      image_upload_token: shape.text,
      /** Base64, with or without a `data:` prefix. */
      image: z.string({ error: "must be the image in base64" }).max(maxImageText, {
        error: `is larger than ${imageLimits.bytes} bytes`,
      }),
    }),
    output: () => ({ image: z.object(imageUrls()) }),
  }),
  linked: endpoint({
    summary: "List the images of reviews that are only URLs, because they were imported",
    listing: { items: "images", ...searchListing },
    ...route("GET", `${extensionPrefix}/apps/{app_key}/images`),
    effect: "read",
    input: () => ({
      /** Only images of this product's reviews. */
      product_id: shape.id.optional(),
      ...searchPages(),
    }),
    output: () => ({
      images: z.array(
        z.object({
          id: z.number().int(),
          review_id: z.number().int(),
          /** Null for a review of the store. */
          product_id: z.string().nullable(),
          url: z.string(),
        }),
      ),
      /** Number of images on all pages; only with the first one. */
      total_images: z.number().int().optional(),
      pagination: nextPage(),
    }),
  }),
  fetch: endpoint({
    summary: "Copy an imported image, which is only a URL, to the service",
    ...route("POST", `${extensionPrefix}/apps/{app_key}/images/{image_id}/fetch`),
    effect: "repeatable",
    roles: ["importer"],
    input: () => ({ image_id: shape.rowId }),
    output: () => ({
      image: z.object({
        ...imageUrls(),
        /** Where the image was imported from; null for an upload. */
        source_url: z.string().nullable(),
        /** Why it was not copied; null if it is stored here. */
        problem: z.string().nullable(),
      }),
    }),
  }),
  get: endpoint({
    summary: "Get an image of a published review",
    ...route("GET", `${extensionPrefix}/images/{image_id}`),
    auth: "open",
    effect: "read",
    caching: cacheLifetimes.revalidated,
    input: () => ({
      image_id: shape.rowId,
      /** The longer edge in pixels (default: the largest size). */
      size: z.enum(sizeNames, { error: `must be one of ${sizeNames.join(", ")}` }).optional(),
    }),
    output: bytesOutput,
    reply: bytes,
  }),
};
