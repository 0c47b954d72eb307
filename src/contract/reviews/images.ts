import * as z from "zod";
import { endpoint, extensionPrefix } from "../endpoint.ts";
import { bytes, enveloped } from "../reply.ts";
import { shape } from "../shapes.ts";
import { hourMs } from "../time.ts";

/** Kinds of image that are taken, told by their first bytes. */
export const imageTypes = ["image/jpeg", "image/png", "image/gif", "image/webp"] as const;

/** Assumed: the specification shows no limit of a review's images. */
export const imageLimits = {
  perReview: 5,
  bytes: 5 * 1_024 * 1_024,
  tokenLifetimeMs: hourMs,
} as const;

export const images = {
  upload: endpoint({
    summary: "Add an image to a review, with the token that its creation gave",
    method: "POST",
    paths: [`${extensionPrefix}/images`],
    extension: "own",
    auth: "open",
    effect: "once",
    input: () =>
      z.object({
        image_upload_token: shape.text,
        /** Base64, with or without a `data:` prefix. */
        image: z
          .string({ error: "must be the image in base64" })
          .max(Math.ceil((imageLimits.bytes * 4) / 3) + 100, {
            error: "is larger than an image may be",
          }),
      }),
    output: () =>
      z.object({
        image: z.object({ id: z.number().int(), thumb_url: z.string(), original_url: z.string() }),
      }),
    reply: enveloped,
  }),
  get: endpoint({
    summary: "Read an image of a published review",
    method: "GET",
    paths: [`${extensionPrefix}/images/{image_id}`],
    extension: "own",
    auth: "open",
    effect: "read",
    input: () => z.object({ image_id: shape.rowId }),
    output: () => z.object({ content_type: z.string(), base64: z.string() }),
    reply: bytes,
  }),
};
