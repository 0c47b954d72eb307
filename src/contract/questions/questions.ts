import * as z from "zod";
import { cacheLifetimes } from "../http-limits.ts";
import { endpoint, extensionPrefix, route } from "../endpoint.ts";
import { userSummary, voteOutput, voteType } from "../people.ts";
import { maxLength, shape, timestamp } from "../shapes.ts";
import { lazyObject } from "../lazy-object.ts";
import { decision } from "../reviews/moderation.ts";
import { lazily } from "../lazily.ts";
import { nameList, nextPage, searchListing, searchPaging, searchText, timeRange } from "../lists/filters.ts";

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

/** `pending` until its author confirms it, or the store publishes it if it is held; `hidden` by the store. */
export const questionStates = ["pending", "public", "hidden"] as const;
export type QuestionState = (typeof questionStates)[number];

/** A question as the store sees it. */
const moderatedQuestion = lazyObject(() => ({
  id: z.number().int(),
  sku: z.string(),
  content: z.string(),
  state: z.enum(questionStates),
  created_at: timestamp(),
}));

/** An event in the history of a question and its answers. Visible only to the store. */
const questionEvent = lazyObject(() => ({
  id: z.number().int(),
  question_id: z.number().int(),
  /** Null if the event concerns the question. */
  answer_id: z.number().int().nullable(),
  event: z.string(),
  by: z.string(),
  reason: z.string().nullable(),
  /** The text before it was edited; null once the text is deleted. */
  previous_content: z.string().nullable(),
  created_at: timestamp(),
}));

const path = `${extensionPrefix}/apps/{app_key}/questions/{question_id}`;

const answerPath = `${extensionPrefix}/apps/{app_key}/answers/{answer_id}`;

export const answers = {
  vote: endpoint({
    summary: "Vote on an answer",
    publicKind: "votes",
    ...route("GET", "/answers/{answer_id}/vote/{vote_type}", "/answers/{answer_id}/vote/{vote_type}.json"),
    auth: "open",
    effect: "once",
    input: () => ({ answer_id: shape.rowId, vote_type: voteType() }),
    output: () => voteOutput(),
  }),
  create: endpoint({
    summary: "Answer a question, as the store or as a shopper",
    ...route("POST", `${extensionPrefix}/apps/{app_key}/questions/{question_id}/answers`),
    effect: "once",
    roles: ["support"],
    input: () => ({
      question_id: shape.rowId,
      content: shape.content,
      /** The name and email address of a shopper; required together. Without them, the store answers. */
      display_name: shape.name.optional(),
      email: shape.email.optional(),
    }),
    output: () => ({ answer: answer() }),
  }),
  edit: endpoint({
    summary: "Edit an answer of the store",
    overwrites: { question: "Replace the text of answer {answer_id}" },
    ...route("PUT", answerPath),
    effect: "repeatable",
    roles: ["support"],
    input: () => ({ answer_id: shape.rowId, content: shape.content, ...decision() }),
    output: () => ({ answer: answer() }),
  }),
  delete: endpoint({
    summary: "Delete an answer",
    destroys: { question: "Delete answer {answer_id}" },
    ...route("DELETE", answerPath),
    effect: "once",
    roles: ["support"],
    input: () => ({ answer_id: shape.rowId, ...decision() }),
  }),
};

/** A question as the store sees it, with its public answers. */
const foundQuestion = lazily(() =>
  question().extend({
    sku: z.string(),
    product_title: z.string(),
    /** The email address of the person who asks. */
    email: z.string(),
    state: z.enum(questionStates),
    /** The number of public answers. */
    total_answers: z.number().int(),
  }),
);
export type FoundQuestion = z.output<ReturnType<typeof foundQuestion>>;

export const questions = {
  list: endpoint({
    summary: "List a product's questions and answers",
    listing: { items: "questions", by: "page", size: { field: "count", max: questionPage.max } },
    ...route("GET", "/products/{app_key}/{sku}/questions"),
    auth: "account",
    effect: "read",
    caching: cacheLifetimes.content,
    input: () => ({ sku: shape.id, count: shape.page.optional(), page: shape.page.optional() }),
    output: () => bottomLine().extend({ questions: z.array(question()) }),
  }),
  bottomLine: endpoint({
    summary: "Count a product's questions and answers",
    ...route("GET", "/products/{app_key}/{sku}/qna_bottomline"),
    auth: "account",
    effect: "read",
    caching: cacheLifetimes.storefront,
    input: () => ({ sku: shape.id }),
    output: () => bottomLine(),
  }),
  sendConfirmation: endpoint({
    summary: "Ask a question; its author receives a confirmation email",
    publicKind: "submissions",
    publicLengths: { product_description: maxLength.publicDescription },
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
  }),
  search: endpoint({
    summary: "List the questions about all products with their answers, newest first",
    listing: { items: "questions", ...searchListing },
    ...route("GET", `${extensionPrefix}/apps/{app_key}/questions`),
    effect: "read",
    input: () => ({
      email: shape.email.optional(),
      product_id: shape.id.optional(),
      /** Comma-separated list (default: public). */
      state: nameList(questionStates).optional(),
      ...timeRange(),
      /** Searches the question, its answers, and the name of the person who asks. The list is sorted by ID. */
      search: searchText().optional(),
      /** Only questions without a public answer. */
      unanswered: shape.boolean.optional(),
      ...searchPaging(),
    }),
    output: () => ({ questions: z.array(foundQuestion()), pagination: nextPage() }),
  }),
  setPublished: endpoint({
    summary: "Publish or hide a question with its answers",
    overwrites: { question: "Change whether question {question_id} is published" },
    ...route("PUT", `${path}/publication`),
    effect: "repeatable",
    roles: ["support"],
    input: () => ({ question_id: shape.rowId, published: shape.boolean, ...decision() }),
    output: () => ({ question: moderatedQuestion() }),
  }),
  delete: endpoint({
    summary: "Delete a question with its answers",
    destroys: { question: "Delete question {question_id} with its answers" },
    ...route("DELETE", path),
    effect: "once",
    roles: ["support"],
    input: () => ({ question_id: shape.rowId, ...decision() }),
  }),
  history: endpoint({
    summary: "List who published, hid, edited, or deleted a question or its answers, when, and why",
    listing: { items: "events" },
    ...route("GET", `${path}/history`),
    effect: "read",
    input: () => ({ question_id: shape.rowId }),
    output: () => ({ events: z.array(questionEvent()) }),
  }),
};
