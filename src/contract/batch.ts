import * as z from "zod";
import { cacheLifetimes } from "./http-limits.ts";
import { endpoint } from "./endpoint.ts";
import { list } from "./reply.ts";
import { shape } from "./shapes.ts";
import { lazily } from "./lazily.ts";
import { lazyObject } from "./lazy-object.ts";
import { parseJson } from "./json-text.ts";

/** Source: practice of services of this kind. */
export const batchMethods = ["main_widget", "bottomline", "testimonials", "reviews"] as const;
export type BatchMethod = (typeof batchMethods)[number];

/** Maximum number of methods per call. Assumed: the specification does not state a limit. */
export const maxBatchMethods = 50;

/** Maximum length of the reviews that a call shows, in characters. Assumed: as above. A page of a shop shows a few. */
export const maxBatchCharacters = 2_000_000;

const method = lazyObject(() => ({
  method: z.enum(batchMethods, { error: `must be one of ${batchMethods.join(", ")}` }),
  params: z
    .looseObject({
      /** The store's product ID. */
      pid: shape.reference.nullish(),
      page: shape.count.nullish(),
      per_page: shape.count.nullish(),
    })
    .default({}),
}));

/** A list, or its JSON text, as sent in a query or a form. */
const methods = lazily(() =>
  z.preprocess(
    (value) => {
      if (typeof value !== "string") return value;
      try {
        return parseJson(value);
      } catch {
        return value;
      }
    },
    z
      .array(method(), { error: "must be a list of {method, params}" })
      .max(maxBatchMethods, { error: `has more than ${maxBatchMethods} elements` }),
  ),
);

/**
 * Source: spec "Core API" shows only `/batch?methods=[]`; similar services use POST.
 * Assumed: GET is accepted as well as POST; in a query, `methods` is JSON text.
 */
export const batch = {
  run: endpoint({
    summary: "Get several HTML fragments for inline SEO",
    method: "POST",
    alsoGet: true,
    paths: ["/batch"],
    auth: "account",
    effect: "read",
    caching: cacheLifetimes.content,
    input: () => ({ methods: methods() }),
    output: () => ({ results: z.array(z.object({ result: z.string() })) }),
    reply: list("results"),
  }),
};
