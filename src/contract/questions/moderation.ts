import * as z from "zod";
import { endpoint, extensionPrefix } from "../endpoint.ts";
import { enveloped, statusOnly } from "../reply.ts";
import { decision } from "../reviews/moderation.ts";
import { shape, timestamp } from "../shapes.ts";
import { lazyObject } from "../lazy-object.ts";
import { answer } from "./questions.ts";

/** `pending` until its author confirms it; `hidden` by the store. */
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

/** Operations with which the store publishes, hides, and deletes questions. */
export const questionModeration = {
  setPublished: endpoint({
    summary: "Publish or hide a question with its answers",
    overwrites: { question: "Change whether question {question_id} is published" },
    method: "PUT",
    paths: [`${path}/publication`],
    extension: "own",
    auth: "utoken",
    effect: "repeatable",
    input: () => ({ question_id: shape.rowId, published: shape.boolean, ...decision() }),
    output: () => ({ question: moderatedQuestion() }),
    reply: enveloped,
  }),
  delete: endpoint({
    summary: "Delete a question with its answers",
    destroys: { question: "Delete question {question_id} with its answers" },
    method: "DELETE",
    paths: [path],
    extension: "own",
    auth: "utoken",
    effect: "once",
    input: () => ({ question_id: shape.rowId, ...decision() }),
    output: () => ({}),
    reply: statusOnly,
  }),
  history: endpoint({
    summary: "List who published, hid, edited, or deleted a question or its answers, when, and why",
    listing: { items: "events" },
    method: "GET",
    paths: [`${path}/history`],
    extension: "own",
    auth: "utoken",
    effect: "read",
    input: () => ({ question_id: shape.rowId }),
    output: () => ({ events: z.array(questionEvent()) }),
    reply: enveloped,
  }),
};

const answerPath = `${extensionPrefix}/apps/{app_key}/answers/{answer_id}`;

/** Operations with which the store edits its answers, and deletes any. */
export const answerModeration = {
  edit: endpoint({
    summary: "Edit an answer of the store",
    overwrites: { question: "Replace the text of answer {answer_id}" },
    method: "PUT",
    paths: [answerPath],
    extension: "own",
    auth: "utoken",
    effect: "repeatable",
    input: () => ({ answer_id: shape.rowId, content: shape.content, ...decision() }),
    output: () => ({ answer: answer() }),
    reply: enveloped,
  }),
  delete: endpoint({
    summary: "Delete an answer",
    destroys: { question: "Delete answer {answer_id}" },
    method: "DELETE",
    paths: [answerPath],
    extension: "own",
    auth: "utoken",
    effect: "once",
    input: () => ({ answer_id: shape.rowId, ...decision() }),
    output: () => ({}),
    reply: statusOnly,
  }),
};
