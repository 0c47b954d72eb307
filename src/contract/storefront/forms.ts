import * as z from "zod";
import { endpoint, extensionPrefix, route } from "../endpoint.ts";
import { linkToken } from "../emails/links.ts";
import { lazily } from "../lazily.ts";
import { lazyObject } from "../lazy-object.ts";
import { maxImageText } from "../reviews/images.ts";
import { formFields, requestedProduct, requestedReview, reviewFormFields, typedText } from "../reviews/requests.ts";
import { maxLength, shape } from "../shapes.ts";

/** The fields of the forms for reviews and questions, in order. A question has no score and no title. */
export const shopperFormFields = [...reviewFormFields, "email"] as const;

const form = lazyObject(() => ({
  /** The form is about the store, which `product` describes. */
  is_site: z.boolean(),
  store_name: z.string(),
  product: requestedProduct(),
  /** As submitted. */
  fields: formFields().extend({ email: z.string() }),
  /** Errors in the submitted fields, worded for shoppers. If there are any, nothing is stored. */
  problems: z.array(z.object({ field: z.enum(shopperFormFields), error: z.string() })),
  /** Where authors can request the link to everything they have written. */
  my_reviews_url: z.string(),
}));
export type ShopperForm = z.output<ReturnType<typeof form>>;

const questionForm = lazyObject(() => ({
  ...form().shape,
  /** `sent`: the author receives an email, and the question is public when they have followed its link. */
  state: z.enum(["ready", "sent"]),
}));
export type QuestionForm = z.output<ReturnType<typeof questionForm>>;

/**
 * Why a photo was not added.
 * - `missing`: none was sent
 * - `size`: it is too large
 * - `type`: it is not an image of a supported type, or cannot be decoded
 * - `many`: the review has the maximum number of photos
 * - `later`: the store has no room for more photos, or the server cannot process any
 */
export const photoProblems = ["missing", "size", "type", "many", "later"] as const;
export type PhotoProblem = (typeof photoProblems)[number];

const photoForm = lazyObject(() => ({
  /** `gone`: the token has expired, or the review was deleted. */
  state: z.enum(["ready", "gone"]),
  is_site: z.boolean(),
  product: requestedProduct().nullable(),
  /** Null if the state is `gone`. */
  review: requestedReview().nullable(),
  /**
   * - `public`: everybody can read the review
   * - `unconfirmed`: it is public when its author has followed the link of an email
   * - `waiting`: the store decides whether to publish it
   */
  review_state: z.enum(["public", "unconfirmed", "waiting"]),
  /** Whether the author's address is confirmed. Until then, photos are not public, unless the store publishes the review. */
  is_confirmed: z.boolean(),
  /** The number of photos of the review. */
  photos: z.number().int(),
  /** Whether another can be added. */
  takes_photos: z.boolean(),
  /** Why the photo of the call was not added. */
  problem: z.enum(photoProblems).nullable(),
}));
export type PhotoForm = z.output<ReturnType<typeof photoForm>>;

const typedEmail = lazily(() => z.string({ error: "must be a string" }).trim().max(maxLength.content).optional());

const productForms = `${extensionPrefix}/apps/{app_key}/products/{product_id}`;
const productPages = `${extensionPrefix}/pages/{app_key}/products/{product_id}`;

const reviewPath = { paths: [`${productForms}/review_form`], htmlPaths: [`${productPages}/write`] } as const;
const questionPath = { paths: [`${productForms}/question_form`], htmlPaths: [`${productPages}/ask`] } as const;
/** The path of the page that adds photos, followed by the upload token of a review. */
export const photoFormPath = `${extensionPrefix}/p`;

const photoPath = {
  paths: [`${extensionPrefix}/photo_forms/{image_upload_token}`],
  htmlPaths: [`${photoFormPath}/{image_upload_token}`],
} as const;

/** Pages with which shoppers write without JavaScript. They have the rules and limits of the calls of the specification. */
export const forms = {
  review: endpoint({
    summary: "Show the form for a review of a product or the store",
    ...route("GET", ...reviewPath.paths),
    htmlPaths: reviewPath.htmlPaths,
    auth: "account",
    effect: "read",
    input: () => ({ product_id: shape.legalId }),
    output: () => ({ form: form() }),
  }),
  submitReview: endpoint({
    summary: "Submit the form for a review; its author receives a verification email",
    publicKind: "submissions",
    ...route("POST", ...reviewPath.paths),
    htmlPaths: reviewPath.htmlPaths,
    hasForm: true,
    redirects: true,
    auth: "account",
    effect: "once",
    input: () => ({
      product_id: shape.legalId,
      score: typedText(),
      title: typedText(),
      content: typedText(),
      display_name: typedText(),
      email: typedEmail(),
    }),
    output: () => ({
      form: form(),
      /** The page of the new review, where its author can add photos for an hour; null if it was not stored. */
      url: z.string().nullable(),
    }),
  }),
  question: endpoint({
    summary: "Show the form for a question about a product",
    ...route("GET", ...questionPath.paths),
    htmlPaths: questionPath.htmlPaths,
    auth: "account",
    effect: "read",
    input: () => ({ product_id: shape.legalId }),
    output: () => ({ form: questionForm() }),
  }),
  submitQuestion: endpoint({
    summary: "Submit the form for a question; its author receives a confirmation email",
    publicKind: "submissions",
    ...route("POST", ...questionPath.paths),
    htmlPaths: questionPath.htmlPaths,
    hasForm: true,
    auth: "account",
    effect: "once",
    input: () => ({
      product_id: shape.legalId,
      content: typedText(),
      display_name: typedText(),
      email: typedEmail(),
    }),
    output: () => ({ form: questionForm() }),
  }),
  photos: endpoint({
    summary: "Show a new review, and the form that adds photos to it",
    ...route("GET", ...photoPath.paths),
    htmlPaths: photoPath.htmlPaths,
    auth: "open",
    effect: "read",
    input: () => ({ image_upload_token: linkToken() }),
    output: () => ({ form: photoForm() }),
  }),
  addPhoto: endpoint({
    summary: "Submit the form that adds a photo to a new review",
    publicKind: "images",
    ...route("POST", ...photoPath.paths),
    htmlPaths: photoPath.htmlPaths,
    hasForm: true,
    hasFile: true,
    redirects: true,
    auth: "open",
    effect: "once",
    maxBodyBytes: maxImageText + 256 * 1_024,
    input: () => ({
      image_upload_token: linkToken(),
      /** Base64, with or without a `data:` prefix. */
      image: z.string({ error: "must be the image in base64" }).optional(),
    }),
    output: () => ({
      form: photoForm(),
      /** The page that shows how many photos the review has; null if the photo was not added. */
      url: z.string().nullable(),
    }),
  }),
};
