import * as z from "zod";
import { endpoint, extensionPrefix, ownOperation, route } from "../endpoint.ts";
import { statusOnly } from "../reply.ts";
import { shape, timestamp } from "../shapes.ts";
import { lazily } from "../lazily.ts";
import { lazyObject } from "../lazy-object.ts";
import { comment, listedReview } from "./shapes.ts";

/** An event in a review's history. Visible only to the store. */
const reviewEvent = lazyObject(() => ({
  id: z.number().int(),
  review_id: z.number().int(),
  event: z.string(),
  by: z.string(),
  reason: z.string().nullable(),
  /** The comment before it was replaced, edited, or deleted. */
  previous_content: z.string().optional(),
  created_at: timestamp(),
}));

/** Who decided, and why; both are recorded. Assumed: without a name, the event is the store's. */
export const decision = lazily(() => ({ reason: shape.content.optional(), by: shape.name.optional() }));

const commentPath = `${extensionPrefix}/apps/{app_key}/reviews/{review_id}/comment`;

/** Operations with which the store publishes, hides, and comments on reviews. */
export const reviewModeration = {
  comment: endpoint({
    summary: "Comment on a review as the store",
    overwrites: { question: "Comment on review {review_id}, replacing its current comment" },
    ...route("POST", commentPath),
    ...ownOperation,
    effect: "repeatable",
    input: () => ({ review_id: shape.rowId, content: shape.content }),
    output: () => ({ comment: comment() }),
  }),
  editComment: endpoint({
    summary: "Edit the store's comment on a review",
    overwrites: { question: "Replace the comment on review {review_id}" },
    ...route("PUT", commentPath),
    ...ownOperation,
    effect: "repeatable",
    input: () => ({ review_id: shape.rowId, content: shape.content, ...decision() }),
    output: () => ({ comment: comment() }),
  }),
  deleteComment: endpoint({
    summary: "Delete the store's comment on a review",
    destroys: { question: "Delete the comment on review {review_id}" },
    ...route("DELETE", commentPath),
    ...ownOperation,
    effect: "once",
    input: () => ({ review_id: shape.rowId, ...decision() }),
    output: () => ({}),
    reply: statusOnly,
  }),
  setPublished: endpoint({
    summary: "Publish or hide a review, with a reason",
    overwrites: { question: "Change whether review {review_id} is published" },
    ...route("PUT", `${extensionPrefix}/apps/{app_key}/reviews/{review_id}/publication`),
    ...ownOperation,
    effect: "repeatable",
    input: () => ({
      review_id: shape.rowId,
      published: shape.boolean,
      reason: shape.content,
      by: shape.name.optional(),
    }),
    output: () => ({ review: listedReview() }),
  }),
  history: endpoint({
    summary: "List who published, hid, or commented on a review, when, and why",
    listing: { items: "events" },
    ...route("GET", `${extensionPrefix}/apps/{app_key}/reviews/{review_id}/history`),
    ...ownOperation,
    effect: "read",
    input: () => ({ review_id: shape.rowId }),
    output: () => ({ events: z.array(reviewEvent()) }),
  }),
};
