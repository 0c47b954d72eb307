import * as z from "zod";
import { linkPaths, linkToken } from "../emails/links.ts";
import { endpoint, extensionPrefix, route } from "../endpoint.ts";
import { lazily } from "../lazily.ts";
import { lazyObject } from "../lazy-object.ts";
import { formFields, formProblems, typedText } from "../reviews/requests.ts";
import { shape, timestamp } from "../shapes.ts";

/** The newest reviews and questions of a person are shown. */
export const myReviewsLimit = 100;

/**
 * - `public`: everybody can read it
 * - `waiting`: the store decides whether to publish it
 * - `hidden`: the store does not publish it
 */
const ownStates = ["public", "waiting", "hidden"] as const;
export type OwnState = (typeof ownStates)[number];

const product = lazyObject(() => ({ name: z.string(), url: z.string() }));

const ownReview = lazyObject(() => ({
  id: z.number().int(),
  /** Null for a review of the store. */
  product: product().nullable(),
  score: z.number().int(),
  title: z.string(),
  content: z.string(),
  state: z.enum(ownStates),
  /** The store's comment. */
  comment: z.string().nullable(),
  /** The URLs lead to the photos only if the review is public. */
  photos: z.array(z.object({ id: z.number().int(), thumb_url: z.string(), original_url: z.string() })),
  /** Where photos can be added for an hour; null if the review has the maximum of photos. */
  photos_url: z.string().nullable(),
  created_at: timestamp(),
}));
export type OwnReview = z.output<ReturnType<typeof ownReview>>;

const ownQuestion = lazyObject(() => ({
  id: z.number().int(),
  product: product(),
  content: z.string(),
  state: z.enum(ownStates),
  /** Public answers. */
  answers: z.number().int(),
  created_at: timestamp(),
}));
export type OwnQuestion = z.output<ReturnType<typeof ownQuestion>>;

const page = lazyObject(() => ({
  /**
   * - `list`: everything the person has written
   * - `edit`, `delete`: one review, photo, or question of it
   * - `gone`: the link has expired, or was not issued by this service
   */
  state: z.enum(["list", "edit", "delete", "gone"]),
  store_name: z.string(),
  /**
   * What the call did. `waiting`: the change was saved, and the review is public again when the store has checked it; `missing`:
   * what the call names does not exist, or is somebody else's.
   */
  outcome: z.enum(["saved", "waiting", "deleted", "missing"]).nullable(),
  /** With the state `edit` or `delete`, the one that the call names, or whose photo it names. */
  reviews: z.array(ownReview()),
  questions: z.array(ownQuestion()),
  /** The photo to delete. */
  photo_id: z.number().int().nullable(),
  /** As submitted, or as stored. */
  fields: formFields(),
  /** Errors in the submitted fields, worded for shoppers. If there are any, nothing is saved. */
  problems: formProblems(),
  /** Where a new link can be requested; null if the account is unknown. */
  request_url: z.string().nullable(),
}));
export type MyReviewsPage = z.output<ReturnType<typeof page>>;

const requestPage = lazyObject(() => ({
  store_name: z.string(),
  /** The address as submitted. */
  email: z.string(),
  /** `sent`: the address gets an email if a confirmed review or question has it. The response does not show whether one has. */
  state: z.enum(["ready", "invalid", "sent"]),
}));
export type MyReviewsRequest = z.output<ReturnType<typeof requestPage>>;

/** What a call concerns: at most one of them. Without any, everything is listed. */
const target = lazily(() => ({
  token: linkToken(),
  review: shape.rowId.optional(),
  photo: shape.rowId.optional(),
  question: shape.rowId.optional(),
  /** Default: edit. Photos can only be deleted. */
  action: z.enum(["edit", "delete"], { error: "must be edit or delete" }).optional(),
}));

const linkPath = {
  paths: [`${extensionPrefix}/my_reviews/{token}`],
  htmlPaths: [`${linkPaths.my_reviews}/{token}`],
} as const;

const requestPath = {
  paths: [`${extensionPrefix}/apps/{app_key}/my_reviews`],
  htmlPaths: [`${extensionPrefix}/pages/{app_key}/my_reviews`],
} as const;

/**
 * What a person has written, behind a signed link that emails to shoppers contain, and that anyone can request for an address.
 * Showing a page changes nothing, because email scanners open every link.
 */
export const myReviews = {
  show: endpoint({
    summary: "Show the reviews, photos, and questions of the person whom an email link belongs to",
    ...route("GET", ...linkPath.paths),
    htmlPaths: linkPath.htmlPaths,
    auth: "open",
    effect: "read",
    input: () => target(),
    output: () => ({ page: page() }),
  }),
  change: endpoint({
    summary: "Edit or delete a review or question, or delete a photo, as its author",
    ...route("POST", ...linkPath.paths),
    htmlPaths: linkPath.htmlPaths,
    hasForm: true,
    auth: "open",
    effect: "repeatable",
    input: () => ({ ...target(), score: typedText(), title: typedText(), content: typedText() }),
    output: () => ({ page: page() }),
  }),
  form: endpoint({
    summary: "Show the form that requests a link to one's reviews",
    ...route("GET", ...requestPath.paths),
    htmlPaths: requestPath.htmlPaths,
    auth: "account",
    effect: "read",
    output: () => ({ request: requestPage() }),
  }),
  request: endpoint({
    summary: "Email an address the link to what was written with it",
    publicKind: "submissions",
    ...route("POST", ...requestPath.paths),
    htmlPaths: requestPath.htmlPaths,
    hasForm: true,
    auth: "account",
    acceptsUtoken: true,
    effect: "once",
    roles: ["support"],
    input: () => ({ email: z.string({ error: "must be a string" }).default("") }),
    output: () => ({ request: requestPage() }),
  }),
};
