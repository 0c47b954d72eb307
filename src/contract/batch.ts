import * as z from "zod";
import { endpoint } from "./endpoint.ts";
import { list } from "./reply.ts";
import { shape } from "./shapes.ts";
import { lazily } from "./lazily.ts";

/** Source: practice of services of this kind. */
export const batchMethods = ["main_widget", "bottomline", "testimonials", "reviews"] as const;
export type BatchMethod = (typeof batchMethods)[number];

/** Methods in one call. Assumed: the specification shows no limit. */
export const maxBatchMethods = 50;

const method = lazily(() =>
  z.object({
    method: z.enum(batchMethods, { error: `must be one of ${batchMethods.join(", ")}` }),
    params: z
      .looseObject({
        /** The store's own product id. */
        pid: shape.reference.nullish(),
        page: shape.count.nullish(),
        per_page: shape.count.nullish(),
      })
      .default({}),
  }),
);

/** A list, or the same as JSON text, as a query or a form has it. */
const methods = lazily(() =>
  z.preprocess(
    (value) => {
      if (typeof value !== "string") return value;
      try {
        return JSON.parse(value);
      } catch {
        return value;
      }
    },
    z
      .array(method(), { error: "must be a list of {method, params}" })
      .max(maxBatchMethods, { error: `holds more than ${maxBatchMethods} elements` }),
  ),
);

/**
 * Source: spec "Core API" shows `/batch?methods=[]` alone; practice of services of this kind posts it.
 * Assumed: it answers GET as well as POST, `methods` in the query being JSON text.
 */
export const batch = {
  run: endpoint({
    summary: "Read several pieces of HTML for in-line SEO",
    method: "POST",
    alsoGet: true,
    paths: ["/batch"],
    auth: "account",
    effect: "read",
    input: () => z.object({ methods: methods() }),
    output: () => z.object({ results: z.array(z.object({ result: z.string() })) }),
    reply: list("results"),
  }),
};
