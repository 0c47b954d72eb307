import * as z from "zod";
import { endpoint, extensionPrefix, route } from "../endpoint.ts";
import { shape, timestamp } from "../shapes.ts";
import { lazily } from "../lazily.ts";
import { lazyObject } from "../lazy-object.ts";
import { itemOutcome } from "../outcomes.ts";
import { actorName } from "../people.ts";
import { comment, listedReview, pastReview, reviewerTypes, score } from "./shapes.ts";
import { queueStates } from "./queue-states.ts";

/** An event in a review's history. Visible only to the store. */
const reviewEvent = lazyObject(() => ({
  id: z.number().int(),
  review_id: z.number().int(),
  event: z.string(),
  by: z.string(),
  reason: z.string().nullable(),
  /** The review before it was edited, or the comment before it was replaced, edited, or deleted. */
  previous_content: z.string().optional(),
  created_at: timestamp(),
}));

/** Who decided, and why; both are recorded. Assumed: without a name, the event is the store's. */
export const decision = lazily(() => ({ reason: shape.content.optional(), by: actorName().optional() }));

const commentPath = `${extensionPrefix}/apps/{app_key}/reviews/{review_id}/comment`;

export const queuePage = { default: 20, max: 100 } as const;

/** A review that waits for a decision, with what the decision needs. */
const queuedReview = lazyObject(() => ({
  ...listedReview().shape,
  state: z.enum(queueStates),
  /** Why it is not published. */
  held_because: z.string(),
  product_title: z.string().nullable(),
  /** The order whose email led to the review, or else the newest order of the author's address with the product. */
  order_id: z.string().nullable(),
  images: z.array(z.string()),
  comment: z.string().nullable(),
}));

/** What a rule does with a review: publish it, hold it until the store decides, or hide it. */
export const ruleActions = ["publish", "hold", "reject"] as const;

/** `verified` are both kinds of verified reviewers. */
export const ruleVerifications = [...reviewerTypes, "verified"] as const;

export const ruleLimits = { rules: 100, words: 100 } as const;

/** The conditions of a rule, all of which a review must meet. */
const conditions = lazily(() => ({
  /** Any of these words or phrases, in the title, the content, or the name; `*` at the end matches the rest of a word. */
  words: z
    .array(shape.name, { error: "must be a list of words" })
    .max(ruleLimits.words, { error: `has more than ${ruleLimits.words} elements` })
    .optional(),
  /** At least this many links. */
  links: shape.count.optional(),
  min_score: score().optional(),
  max_score: score().optional(),
  verification: z.enum(ruleVerifications, { error: `must be one of ${ruleVerifications.join(", ")}` }).optional(),
}));

const rule = lazyObject(() => ({
  id: z.number().int(),
  action: z.enum(ruleActions),
  words: z.array(z.string()),
  links: z.number().int().nullable(),
  min_score: z.number().int().nullable(),
  max_score: z.number().int().nullable(),
  verification: z.enum(ruleVerifications).nullable(),
  /** Description of the conditions. */
  description: z.string(),
  /** The reason that the rule records: the description, unless one was given. */
  reason: z.string(),
  by: z.string(),
  created_at: timestamp(),
}));
export type ReviewRule = z.output<ReturnType<typeof rule>>;

const prefix = `${extensionPrefix}/apps/{app_key}`;
/** Operations with which the store publishes, hides, updates, and comments on reviews. */
export const reviewModeration = {
  update: endpoint({
    summary: "Update a review that was edited where it was imported from",
    overwrites: { question: "Change review {review_id}" },
    ...route("PUT", `${prefix}/reviews/{review_id}`),
    effect: "repeatable",
    roles: ["importer"],
    /** Fields that are not given keep their values; the time of the review never changes. */
    input: () => ({
      review_id: shape.rowId,
      review_title: shape.name.optional(),
      review_content: shape.content.optional(),
      review_score: score().optional(),
      display_name: shape.name.optional(),
      user_reference: shape.reference.nullish(),
      past: pastReview().omit({ created_at: true }).partial().optional(),
    }),
    output: () => ({ review: listedReview(), ...itemOutcome().shape }),
  }),
  comment: endpoint({
    summary: "Comment on a review as the store",
    overwrites: { question: "Comment on review {review_id}, replacing its current comment" },
    ...route("POST", commentPath),
    effect: "repeatable",
    roles: ["support"],
    input: () => ({ review_id: shape.rowId, content: shape.content, by: actorName().optional() }),
    output: () => ({ comment: comment() }),
  }),
  editComment: endpoint({
    summary: "Edit the store's comment on a review",
    overwrites: { question: "Replace the comment on review {review_id}" },
    ...route("PUT", commentPath),
    effect: "repeatable",
    roles: ["support"],
    input: () => ({ review_id: shape.rowId, content: shape.content, ...decision() }),
    output: () => ({ comment: comment() }),
  }),
  deleteComment: endpoint({
    summary: "Delete the store's comment on a review",
    destroys: { question: "Delete the comment on review {review_id}" },
    ...route("DELETE", commentPath),
    effect: "once",
    roles: ["support"],
    input: () => ({ review_id: shape.rowId, ...decision() }),
  }),
  setPublished: endpoint({
    summary: "Publish or hide a review, with a reason",
    overwrites: { question: "Change whether review {review_id} is published" },
    ...route("PUT", `${extensionPrefix}/apps/{app_key}/reviews/{review_id}/publication`),
    effect: "repeatable",
    roles: ["support"],
    input: () => ({
      review_id: shape.rowId,
      published: shape.boolean,
      reason: shape.content,
      by: actorName().optional(),
    }),
    output: () => ({ review: listedReview() }),
  }),
  history: endpoint({
    summary: "List who published, hid, or commented on a review, when, and why",
    listing: { items: "events" },
    ...route("GET", `${extensionPrefix}/apps/{app_key}/reviews/{review_id}/history`),
    effect: "read",
    input: () => ({ review_id: shape.rowId }),
    output: () => ({ events: z.array(reviewEvent()) }),
  }),
  queue: endpoint({
    summary: "List reviews that wait for a decision, oldest first",
    listing: { items: "reviews", by: "since_id", size: { field: "count", max: queuePage.max } },
    ...route("GET", `${prefix}/moderation_queue`),
    effect: "read",
    input: () => ({
      state: z.enum(queueStates, { error: `must be one of ${queueStates.join(", ")}` }).optional(),
      since_id: shape.count.optional(),
      count: shape.page.optional(),
    }),
    /** `total` counts all reviews in the queue. */
    output: () => ({ total: z.number().int(), reviews: z.array(queuedReview()) }),
  }),
  requeue: endpoint({
    summary: "Withdraw the decision on a review, so that it waits in the moderation queue",
    overwrites: { question: "Return review {review_id} to the moderation queue" },
    ...route("DELETE", `${prefix}/reviews/{review_id}/publication`),
    effect: "repeatable",
    roles: ["support"],
    input: () => ({ review_id: shape.rowId, ...decision() }),
    output: () => ({ review: listedReview() }),
  }),
};

/** Rules that decide on new reviews, in the order in which they were added: the first that applies decides. */
export const reviewRules = {
  list: endpoint({
    summary: "List the rules that publish, hold, or reject new reviews",
    listing: { items: "rules" },
    ...route("GET", `${prefix}/review_rules`),
    effect: "read",
    output: () => ({ rules: z.array(rule()) }),
  }),
  add: endpoint({
    summary: "Add a rule that publishes, holds, or rejects new reviews",
    ...route("POST", `${prefix}/review_rules`),
    effect: "once",
    input: () => ({
      action: z.enum(ruleActions, { error: `must be one of ${ruleActions.join(", ")}` }),
      ...conditions(),
      ...decision(),
    }),
    output: () => ({ rule: rule() }),
  }),
  delete: endpoint({
    summary: "Delete a rule for new reviews",
    destroys: { question: "Delete review rule {rule_id}" },
    ...route("DELETE", `${prefix}/review_rules/{rule_id}`),
    effect: "once",
    input: () => ({ rule_id: shape.rowId }),
  }),
  test: endpoint({
    summary: "Show what the rules would do with a review",
    ...route("GET", `${prefix}/review_rules/test`),
    effect: "read",
    input: () => ({
      /** An existing review; the other fields replace its own. */
      review_id: shape.rowId.optional(),
      title: shape.name.optional(),
      content: shape.content.optional(),
      display_name: shape.name.optional(),
      score: score().optional(),
      verification: z.enum(reviewerTypes, { error: `must be one of ${reviewerTypes.join(", ")}` }).optional(),
    }),
    output: () => ({
      /** Null if the account's setting decides. */
      action: z.enum(ruleActions).nullable(),
      /** Null if no rule applies: then a built-in check, or the account's setting, decides. */
      rule_id: z.number().int().nullable(),
      reason: z.string().nullable(),
    }),
  }),
};
