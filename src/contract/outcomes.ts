import * as z from "zod";
import { lazily } from "./lazily.ts";
import { shape, type FieldError } from "./shapes.ts";

/**
 * The input of creating calls that can report the outcome of each item.
 * Assumed: an extension of the specification, without which these calls report only errors, or nothing at all;
 * services that do not know it ignore it and return no `outcomes`.
 */
export const outcomesInput = lazily(() => ({ details: shape.boolean.optional() }));

/**
 * What became of one item of a creating call. `dropped` means that nothing of the item is stored, be it invalid or in
 * conflict with a stored item.
 */
export const itemOutcome = lazily(() =>
  z.object({
    outcome: z.enum(["created", "changed", "unchanged", "dropped"]),
    /** Only for products, because not every JSON library keeps the order of an object's keys. */
    product_id: z.string().optional(),
    /** The stored fields whose values changed. */
    fields: z.array(z.string()).optional(),
    /** What is not stored of the item, and why. */
    dropped: z.array(z.object({ field: z.string(), error: z.string() })).optional(),
  }),
);
export type ItemOutcome = z.output<ReturnType<typeof itemOutcome>>;

/** The output of creating calls: with `details`, one outcome per item, in the order sent. */
export const outcomesOutput = lazily(() => ({ outcomes: z.array(itemOutcome()).optional() }));

/** Creates an outcome. An item of which everything is stored has no `dropped`. */
export function outcomeOf(
  outcome: ItemOutcome["outcome"],
  { fields = [], dropped = [] }: { readonly fields?: readonly string[]; readonly dropped?: readonly FieldError[] } = {},
): ItemOutcome {
  if (fields.length === 0 && dropped.length === 0) return { outcome };
  return {
    outcome,
    ...(fields.length > 0 && { fields: [...fields] }),
    ...(dropped.length > 0 && { dropped: dropped.map(({ field, error }) => ({ field, error })) }),
  };
}
