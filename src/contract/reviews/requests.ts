import * as z from "zod";
import { endpoint, extensionPrefix, route } from "../endpoint.ts";
import { linkPaths, linkScore, linkToken } from "../emails/links.ts";
import { timestamp } from "../shapes.ts";
import { lazily } from "../lazily.ts";
import { lazyObject } from "../lazy-object.ts";
import { maxContentLength, maxNameLength, maxTitleLength } from "../storefront/limits.ts";

/** The fields of the review form, in order. */
export const reviewFormFields = ["score", "title", "content", "display_name"] as const;
export type ReviewFormField = (typeof reviewFormFields)[number];

/** Maximum lengths in the review form, by field. */
export const reviewFormLimits = {
  title: maxTitleLength,
  content: maxContentLength,
  display_name: maxNameLength,
} as const;

/** Text that consists only of invisible characters counts as empty. */
export function isBlank(text: string): boolean {
  return !/[^\s\p{C}]/u.test(text);
}

export const formFields = lazyObject(() => ({
  score: z.string(),
  title: z.string(),
  content: z.string(),
  display_name: z.string(),
}));

/** Errors in submitted fields, worded for shoppers. */
export const formProblems = lazily(() => z.array(z.object({ field: z.enum(reviewFormFields), error: z.string() })));

export const requestedReview = lazyObject(() => ({
  score: z.number().int(),
  title: z.string(),
  content: z.string(),
  /** The name as shown publicly. */
  display_name: z.string(),
  verified_buyer: z.boolean(),
  created_at: timestamp(),
}));

/** The product that a request is about. */
export const requestedProduct = lazyObject(() => ({
  name: z.string(),
  url: z.string(),
  image_url: z.string().nullable(),
}));

const request = lazyObject(() => ({
  /** `ready`: awaits a review; `done`: the review was written; `gone`: the link has expired, or the product was deleted. */
  state: z.enum(["ready", "done", "gone"]),
  /** The link is from a test email: the review is shown but not stored. */
  is_test: z.boolean(),
  /** The review is about the store, which `product` describes. */
  is_site: z.boolean(),
  /** The recipient has since unsubscribed from such emails, but may still write a review. */
  is_unsubscribed: z.boolean(),
  store_name: z.string(),
  /** Null if the state is `gone`. */
  product: requestedProduct().nullable(),
  /** The values of the fields: as submitted, or initially the customer's name and the rating of the star link. */
  fields: formFields(),
  /** If there are any, no review is stored. */
  problems: formProblems(),
  /** The review, if the state is `done`. */
  review: requestedReview().nullable(),
  /** Where photos can be added to the review for an hour; null before it is written, and when it has the maximum of photos. */
  photos_url: z.string().nullable(),
  /** Where the recipient can request the link to everything they have written. */
  my_reviews_url: z.string(),
}));
export type ReviewRequest = z.output<ReturnType<typeof request>>;

const path = {
  paths: [`${extensionPrefix}/review_requests/{token}`],
  htmlPaths: [`${linkPaths.write_review}/{token}`],
} as const;

/** Anything a person can type. Invalid values are returned as `problems` instead of failing the call. */
export const typedText = lazily(() =>
  z.union([z.string(), z.number().transform(String)], { error: "must be a string" }).optional(),
);

/** Operations behind the link of a review-request email, which opens a page with a review form. */
export const reviewRequests = {
  show: endpoint({
    summary: "Get a review request and the review written for it",
    ...route("GET", ...path.paths),
    htmlPaths: path.htmlPaths,
    auth: "open",
    effect: "read",
    input: () => ({ token: linkToken(), score: linkScore() }),
    output: () => ({ request: request() }),
  }),
  write: endpoint({
    summary: "Write the review for a review request; its author is a verified buyer",
    ...route("POST", ...path.paths),
    htmlPaths: path.htmlPaths,
    hasForm: true,
    auth: "open",
    effect: "repeatable",
    input: () => ({
      token: linkToken(),
      score: typedText(),
      title: typedText(),
      content: typedText(),
      display_name: typedText(),
    }),
    output: () => ({ request: request() }),
  }),
};
