import * as z from "zod";
import { endpoint, route } from "../endpoint.ts";
import { voteOutput, voteType } from "../people.ts";
import { flat } from "../reply.ts";
import { invalidIdText, isLegalId, isSurely, maxLength, shape } from "../shapes.ts";
import { lazily } from "../lazily.ts";
import { fullReview, pastReview, score, trustedReviewerTypes } from "./shapes.ts";

const publicLengths = { product_description: maxLength.publicDescription } as const;

/** The input that both ways to create a review share. Source: spec "Reviews". Assumed: both accept `user_reference`. */
const newReview = lazily(() => ({
  sku: shape.id.pipe(z.string().refine(isLegalId, { error: invalidIdText })),
  product_title: shape.name,
  display_name: shape.name,
  email: shape.email,
  review_content: shape.content,
  review_title: shape.name,
  review_score: score(),
  domain: shape.reference.nullish(),
  product_description: shape.text.nullish(),
  product_image_url: shape.optionalUrl.nullish(),
  signature: shape.reference.nullish(),
  time_stamp: shape.reference.nullish(),
  /** Assumed: an empty one counts as not given. */
  reviewer_type: z
    .enum(["", ...trustedReviewerTypes], { error: `must be one of ${trustedReviewerTypes.join(", ")}` })
    .nullish(),
  /** The store's ID for the author. */
  user_reference: shape.reference.nullish(),
}));

const requiredFields = {
  sku: isSurely.legalId,
  product_title: isSurely.name,
  display_name: isSurely.name,
  email: isSurely.email,
  review_content: isSurely.content,
  review_title: isSurely.name,
  review_score: (value: unknown) => typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= 5,
  past: isSurelyPast,
} as const;

const optionalFields = {
  product_url: isSurely.url,
  product_description: isSurely.text,
  product_image_url: isSurely.url,
  user_reference: isSurely.reference,
} as const;

/**
 * Whether the schema of `createNow` would return a past review as it is, apart from fields that are undefined. If not, the
 * schema must decide.
 */
export function isSurelyPastReview(
  given: Readonly<Record<string, unknown>>,
): given is z.output<typeof reviewWriting.createNow.input> {
  for (const name in given) {
    if (given[name] === undefined) continue;
    if (!(name in requiredFields) && !(name in optionalFields)) return false;
  }
  return (
    Object.entries(requiredFields).every(([name, isSure]) => isSure(given[name])) &&
    Object.entries(optionalFields).every(([name, isSure]) => given[name] === undefined || isSure(given[name]))
  );
}

function isSurelyPast(given: unknown): boolean {
  if (typeof given !== "object" || given === null) return false;
  const { created_at, published, comment, untitled, ...others } = given as Readonly<Record<string, unknown>>;
  return (
    isSurely.time(created_at) &&
    [published, untitled].every((value) => value === undefined || typeof value === "boolean") &&
    (comment === undefined || isSurely.content(comment)) &&
    Object.values(others).every((other) => other === undefined)
  );
}

/** Operations with which shoppers, or a store on their behalf, write reviews and vote on them. */
export const reviewWriting = {
  create: endpoint({
    summary: "Create a review; its author receives a verification email",
    publicKind: "submissions",
    publicLengths,
    ...route("POST", "/v1/widget/reviews"),
    auth: "account",
    effect: "once",
    input: () => z.object({ ...newReview(), product_url: shape.url }).loose(),
    /** Assumed: with a valid utoken, the caller is the store, whose reviews are not held. */
    acceptsUtoken: true,
    output: () => ({ image_upload_token: z.string() }),
    reply: flat,
  }),
  createNow: endpoint({
    summary: "Create a review and return it (for development)",
    publicKind: "submissions",
    publicLengths,
    ...route("POST", "/reviews/dynamic_create"),
    auth: "account",
    effect: "once",
    roles: ["importer"],
    input: () =>
      z
        .object({
          ...newReview(),
          product_url: shape.optionalUrl.nullish(),
          /**
           * Assumed: an extension of the specification, honored only with a valid utoken: anyone may create a review,
           * but only the store may state when it was written. Services that do not know it ignore it.
           */
          past: pastReview().optional(),
        })
        .loose(),
    acceptsUtoken: true,
    output: () => ({ reviews: z.array(fullReview()) }),
  }),
  vote: endpoint({
    summary: "Vote on a review",
    publicKind: "votes",
    ...route("GET", "/reviews/{review_id}/vote/{vote_type}", "/reviews/{review_id}/vote/{vote_type}.json"),
    auth: "open",
    effect: "once",
    input: () => ({ review_id: shape.rowId, vote_type: voteType() }),
    output: () => voteOutput(),
  }),
};
