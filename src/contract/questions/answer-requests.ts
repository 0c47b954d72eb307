import * as z from "zod";
import { linkPaths, linkToken } from "../emails/links.ts";
import { endpoint, extensionPrefix, route } from "../endpoint.ts";
import { lazyObject } from "../lazy-object.ts";
import { requestedProduct, typedText } from "../reviews/requests.ts";
import { timestamp } from "../shapes.ts";

/** The fields of the answer form, in order. */
export const answerFormFields = ["content", "display_name"] as const;

const request = lazyObject(() => ({
  /** `ready`: awaits an answer; `done`: the recipient answered; `gone`: the link has expired, or the question is not public. */
  state: z.enum(["ready", "done", "gone"]),
  store_name: z.string(),
  /** Null if the state is `gone`. */
  product: requestedProduct().nullable(),
  question: z.string(),
  /** The values of the fields: as submitted, or initially the customer's name. */
  fields: z.object({ content: z.string(), display_name: z.string() }),
  /** Errors in the submitted fields, worded for shoppers. If there are any, no answer is stored. */
  problems: z.array(z.object({ field: z.enum(answerFormFields), error: z.string() })),
  /** The answer, if the state is `done`, with the name as shown publicly. */
  answer: z.object({ content: z.string(), display_name: z.string(), created_at: timestamp() }).nullable(),
}));
export type AnswerRequest = z.output<ReturnType<typeof request>>;

const path = {
  paths: [`${extensionPrefix}/answer_requests/{token}`],
  htmlPaths: [`${linkPaths.answer_question}/{token}`],
} as const;

/** Operations behind the link of an email that asks a buyer to answer a question, which opens a page with a form. */
export const answerRequests = {
  show: endpoint({
    summary: "Get a question that a buyer is asked to answer",
    ...route("GET", ...path.paths),
    htmlPaths: path.htmlPaths,
    auth: "open",
    effect: "read",
    input: () => ({ token: linkToken() }),
    output: () => ({ request: request() }),
  }),
  write: endpoint({
    summary: "Answer the question of an email; the answer is public immediately",
    ...route("POST", ...path.paths),
    htmlPaths: path.htmlPaths,
    hasForm: true,
    auth: "open",
    effect: "repeatable",
    input: () => ({ token: linkToken(), content: typedText(), display_name: typedText() }),
    output: () => ({ request: request() }),
  }),
};
