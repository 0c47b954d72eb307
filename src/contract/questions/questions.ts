import * as z from "zod";
import { cacheLifetimes } from "../http-limits.ts";
import { endpoint, extensionPrefix, ownOperation, route } from "../endpoint.ts";
import { userSummary, voteOutput, voteType } from "../people.ts";
import { enveloped, statusOnly } from "../reply.ts";
import { shape, timestamp } from "../shapes.ts";
import { lazyObject } from "../lazy-object.ts";

/** Page sizes of the question list. Assumed: the specification shows no pagination for it. */
export const questionPage = { default: 1_000, max: 1_000 } as const;

/** Source: spec "Question and answer". */
export const answer = lazyObject(() => ({
  id: z.number().int(),
  content: z.string(),
  store_owner_comment: z.boolean(),
  answerer: userSummary(),
  votes_up: z.number().int(),
  votes_down: z.number().int(),
  created_at: timestamp(),
}));
export type Answer = z.output<ReturnType<typeof answer>>;

/** Source: spec "Question and answer". */
export const question = lazyObject(() => ({
  id: z.number().int(),
  content: z.string(),
  asker: userSummary(),
  user_type: z.string(),
  created_at: timestamp(),
  sorted_public_answers: z.array(answer()),
}));
export type Question = z.output<ReturnType<typeof question>>;

const bottomLine = lazyObject(() => ({ total_questions: z.number().int(), total_answers: z.number().int() }));

export const questions = {
  list: endpoint({
    summary: "List a product's questions and answers",
    listing: { items: "questions", by: "page", size: { field: "count", max: questionPage.max } },
    ...route("GET", "/products/{app_key}/{sku}/questions"),
    auth: "account",
    effect: "read",
    caching: cacheLifetimes.content,
    input: () => ({ sku: shape.id, count: shape.count.optional(), page: shape.count.optional() }),
    output: () => bottomLine().extend({ questions: z.array(question()) }),
    reply: enveloped,
  }),
  bottomLine: endpoint({
    summary: "Count a product's questions and answers",
    ...route("GET", "/products/{app_key}/{sku}/qna_bottomline"),
    auth: "account",
    effect: "read",
    caching: cacheLifetimes.storefront,
    input: () => ({ sku: shape.id }),
    output: () => bottomLine(),
    reply: enveloped,
  }),
  sendConfirmation: endpoint({
    summary: "Ask a question; its author receives a confirmation email",
    publicKind: "submissions",
    ...route("POST", "/questions/send_confirmation_mail"),
    auth: "account",
    effect: "once",
    // Assumed: as in calls that create reviews.
    inputAliases: { sku: "product_id" },
    input: () => ({
      review_content: shape.content,
      display_name: shape.name,
      email: shape.email,
      product_id: shape.legalId,
      product_title: shape.name,
      product_url: shape.url,
      review_source: shape.reference.nullish(),
      product_description: shape.text.nullish(),
      product_image_url: shape.optionalUrl.nullish(),
      prevent_duplicate_review: shape.boolean.nullish(),
      product_tags: shape.tags.nullish(),
    }),
    /** Assumed: with a valid utoken, the store vouches for the product's name and URL. */
    acceptsUtoken: true,
    output: () => ({}),
    reply: statusOnly,
  }),
};

export const answers = {
  vote: endpoint({
    summary: "Vote on an answer",
    publicKind: "votes",
    ...route("GET", "/answers/{answer_id}/vote/{vote_type}", "/answers/{answer_id}/vote/{vote_type}.json"),
    auth: "open",
    effect: "once",
    input: () => ({ answer_id: shape.rowId, vote_type: voteType() }),
    output: () => voteOutput(),
    reply: enveloped,
  }),
  create: endpoint({
    summary: "Answer a question, as the store or as a shopper",
    ...route("POST", `${extensionPrefix}/apps/{app_key}/questions/{question_id}/answers`),
    ...ownOperation,
    effect: "once",
    input: () => ({
      question_id: shape.rowId,
      content: shape.content,
      /** The name and email address of a shopper; required together. Without them, the store answers. */
      display_name: shape.name.optional(),
      email: shape.email.optional(),
    }),
    output: () => ({ answer: answer() }),
  }),
};
