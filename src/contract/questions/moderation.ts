import * as z from "zod";
import { endpoint, extensionPrefix, ownOperation, route } from "../endpoint.ts";
import { statusOnly } from "../reply.ts";
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
    ...route("PUT", `${path}/publication`),
    ...ownOperation,
    effect: "repeatable",
    input: () => ({ question_id: shape.rowId, published: shape.boolean, ...decision() }),
    output: () => ({ question: moderatedQuestion() }),
  }),
  delete: endpoint({
    summary: "Delete a question with its answers",
    destroys: { question: "Delete question {question_id} with its answers" },
    ...route("DELETE", path),
    ...ownOperation,
    effect: "once",
    input: () => ({ question_id: shape.rowId, ...decision() }),
    output: () => ({}),
    reply: statusOnly,
  }),
  history: endpoint({
    summary: "List who published, hid, edited, or deleted a question or its answers, when, and why",
    listing: { items: "events" },
    ...route("GET", `${path}/history`),
    ...ownOperation,
    effect: "read",
    input: () => ({ question_id: shape.rowId }),
    output: () => ({ events: z.array(questionEvent()) }),
  }),
};

const answerPath = `${extensionPrefix}/apps/{app_key}/answers/{answer_id}`;

/** Operations with which the store edits its answers, and deletes any. */
export const answerModeration = {
  edit: endpoint({
    summary: "Edit an answer of the store",
    overwrites: { question: "Replace the text of answer {answer_id}" },
    ...route("PUT", answerPath),
    ...ownOperation,
    effect: "repeatable",
    input: () => ({ answer_id: shape.rowId, content: shape.content, ...decision() }),
    output: () => ({ answer: answer() }),
  }),
  delete: endpoint({
    summary: "Delete an answer",
    destroys: { question: "Delete answer {answer_id}" },
    ...route("DELETE", answerPath),
    ...ownOperation,
    effect: "once",
    input: () => ({ answer_id: shape.rowId, ...decision() }),
    output: () => ({}),
    reply: statusOnly,
  }),
};
