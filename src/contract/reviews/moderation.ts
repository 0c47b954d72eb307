import * as z from "zod";
import { endpoint, extensionPrefix } from "../endpoint.ts";
import { enveloped } from "../reply.ts";
import { shape, timestamp } from "../shapes.ts";
import { lazily } from "../lazily.ts";
import { comment, listedReview } from "./shapes.ts";

/** An event in a review's history. Visible only to the store. */
const reviewEvent = lazily(() =>
  z.object({
    id: z.number().int(),
    review_id: z.number().int(),
    event: z.string(),
    by: z.string(),
    reason: z.string().nullable(),
    created_at: timestamp(),
  }),
);

/** Operations with which the store publishes, hides, and comments on reviews. */
export const reviewModeration = {
  comment: endpoint({
    summary: "Comment on a review as the store",
    overwrites: { question: "Comment on review {review_id}, replacing its current comment" },
    method: "POST",
    paths: [`${extensionPrefix}/apps/{app_key}/reviews/{review_id}/comment`],
    extension: "own",
    auth: "utoken",
    effect: "repeatable",
    input: () => z.object({ review_id: shape.rowId, content: shape.content }),
    output: () => z.object({ comment: comment() }),
    reply: enveloped,
  }),
  setPublished: endpoint({
    summary: "Publish or hide a review, with a reason",
    overwrites: { question: "Change whether review {review_id} is published" },
    method: "PUT",
    paths: [`${extensionPrefix}/apps/{app_key}/reviews/{review_id}/publication`],
    extension: "own",
    auth: "utoken",
    effect: "repeatable",
    input: () =>
      z.object({
        review_id: shape.rowId,
        published: shape.boolean,
        reason: shape.content,
        by: shape.name.optional(),
      }),
    output: () => z.object({ review: listedReview() }),
    reply: enveloped,
  }),
  history: endpoint({
    summary: "List who published, hid, or commented on a review, when, and why",
    listing: { items: "events" },
    method: "GET",
    paths: [`${extensionPrefix}/apps/{app_key}/reviews/{review_id}/history`],
    extension: "own",
    auth: "utoken",
    effect: "read",
    input: () => z.object({ review_id: shape.rowId }),
    output: () => z.object({ events: z.array(reviewEvent()) }),
    reply: enveloped,
  }),
};
