import * as z from "zod";
import { endpoint, extensionPrefix } from "../endpoint.ts";
import { linkPaths, linkToken } from "../emails/links.ts";
import { enveloped } from "../reply.ts";
import { timestamp } from "../shapes.ts";
import { lazily } from "../lazily.ts";

/** The fields of the page on which a review is written, in their order. */
export const reviewFormFields = ["score", "title", "content", "display_name"] as const;
export type ReviewFormField = (typeof reviewFormFields)[number];

/** Longest texts of the page, in UTF-16 units as browsers count them. Assumed: shorter than what scripts may send. */
export const reviewFormLimits = { title: 150, content: 10_000, display_name: 100 } as const;

const formFields = lazily(() =>
  z.object({
    score: z.string(),
    title: z.string(),
    content: z.string(),
    display_name: z.string(),
  }),
);

const requestedReview = lazily(() =>
  z.object({
    score: z.number().int(),
    title: z.string(),
    content: z.string(),
    /** As everybody sees it. */
    display_name: z.string(),
    verified_buyer: z.boolean(),
    created_at: timestamp(),
  }),
);

const request = lazily(() =>
  z.object({
    /** `ready`: a review can be written; `done`: it is written; `gone`: the link is too old, or its product not there. */
    state: z.enum(["ready", "done", "gone"]),
    /** The link of a test mail: what is written is shown, and not kept. */
    is_test: z.boolean(),
    /** The mail's reader has unsubscribed from such mails since; a review is welcome all the same. */
    is_unsubscribed: z.boolean(),
    store_name: z.string(),
    /** Null where the request is gone. */
    product: z.object({ name: z.string(), url: z.string(), image_url: z.string().nullable() }).nullable(),
    /** What the fields hold: as they were sent, or at first the name of the order's customer. */
    fields: formFields(),
    /** What is wrong with the fields that were sent, in words for their writer; while there is anything, nothing is kept. */
    problems: z.array(z.object({ field: z.enum(reviewFormFields), error: z.string() })),
    /** What is written, where it is done. */
    review: requestedReview().nullable(),
  }),
);
export type ReviewRequest = z.output<ReturnType<typeof request>>;

const path = {
  paths: [`${extensionPrefix}/review_requests/{token}`],
  htmlPaths: [`${linkPaths.write_review}/{token}`],
} as const;

/** Anything that a person can type; what is wrong with it is told as a problem, and no reason to refuse the call. */
const typed = lazily(() =>
  z.union([z.string(), z.number().transform(String)], { error: "must be text" }).optional(),
);

/** What a mail-after-purchase asks for: its link shows a page on which a review is written. */
export const reviewRequests = {
  show: endpoint({
    summary: "Tell what the link of a review request asks for, and what was written",
    method: "GET",
    paths: [...path.paths],
    htmlPaths: path.htmlPaths,
    extension: "own",
    auth: "open",
    effect: "read",
    input: () => z.object({ token: linkToken() }),
    output: () => z.object({ request: request() }),
    reply: enveloped,
  }),
  write: endpoint({
    summary: "Write the review that a review request asks for; its author is a verified buyer",
    method: "POST",
    paths: [...path.paths],
    htmlPaths: path.htmlPaths,
    hasForm: true,
    extension: "own",
    auth: "open",
    effect: "repeatable",
    input: () =>
      z.object({
        token: linkToken(),
        score: typed(),
        title: typed(),
        content: typed(),
        display_name: typed(),
      }),
    output: () => z.object({ request: request() }),
    reply: enveloped,
  }),
};
