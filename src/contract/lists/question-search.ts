import * as z from "zod";
import { endpoint, extensionPrefix } from "../endpoint.ts";
import { lazily } from "../lazily.ts";
import { questionStates } from "../questions/moderation.ts";
import { question } from "../questions/questions.ts";
import { enveloped } from "../reply.ts";
import { shape } from "../shapes.ts";
import { nameList, nextPage, searchCall, searchListing, searchPaging, searchText, timeRange } from "./filters.ts";

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

export const questionSearch = {
  search: endpoint({
    summary: "List the questions about all products with their answers, newest first",
    listing: { items: "questions", ...searchListing },
    ...searchCall,
    paths: [`${extensionPrefix}/apps/{app_key}/questions`],
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
    reply: enveloped,
  }),
};
